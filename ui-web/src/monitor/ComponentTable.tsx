// The processes that Sidekicks is made of: how each does, what its absence means, its restart.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Component } from "../bus/schema.gen";
import { problemText, t } from "../i18n/translate";
import { components } from "../shell/app";
import { clock, count, lasted, now, size } from "../shell/format";
import { componentName, componentState, effectOf, works } from "./component";
import { saidBy } from "./events";
import { follow, pulses } from "./pulse";
import { failed, RestartButton } from "./RestartButton";
import { rates } from "./stream";

export function ComponentTable(): JSX.Element {
  useEffect(follow, []);
  const each = new Map<string, number>();
  let all = 0;
  for (const [type, rate] of rates.value) {
    each.set(saidBy(type), (each.get(saidBy(type)) ?? 0) + rate);
    all += rate;
  }
  each.set("bus", all);
  return (
    <div class="bus-components" role="region" aria-label={t("sidebar.components")} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("bus.component")}</th>
            <th scope="col">{t("bus.state")}</th>
            <th scope="col" class="number">{t("bus.pid")}</th>
            <th scope="col" class="number">{t("bus.since")}</th>
            <th scope="col" class="number">{t("bus.heard")}</th>
            <th scope="col" class="number">{t("bus.restarts")}</th>
            <th scope="col" class="number">{t("bus.rate")}</th>
            <th scope="col" class="number">{t("bus.memory")}</th>
            <td />
          </tr>
        </thead>
        <tbody>
          {components.value.map((component) => (
            <Row key={component.component} component={component} rate={each.get(component.component) ?? 0} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ component: it, rate }: { component: Component; rate: number }): JSX.Element {
  const pulse = pulses.value.get(it.component);
  const problem = failed.value[it.component];
  return (
    <>
      <tr>
        <th scope="row">
          <span class={`light light-${it.state}`} aria-hidden="true" /> {componentName(it.component)}
        </th>
        <td class={works(it) ? undefined : "component-bad"}>{componentState(it)}</td>
        <td class="number">{it.pid > 0 ? String(it.pid) : "–"}</td>
        <td class="number" title={it.since > 0 ? clock(it.since) : undefined}>
          {it.since > 0 && it.pid > 0 ? lasted(now.value - it.since) : "–"}
        </td>
        <td class="number">{pulse?.heard === undefined ? "–" : t("bus.ago", { time: lasted(pulse.heard) })}</td>
        <td class="number">{it.restarts}</td>
        <td class="number">{count(rate)}</td>
        <td class="number">{pulse?.memory === undefined ? "–" : size(pulse.memory)}</td>
        <td class="bus-action">
          <RestartButton component={it.component} />
        </td>
      </tr>
      {(!works(it) || problem !== undefined) && (
        <tr>
          <td colSpan={9} class="bus-effect">
            {!works(it) && effectOf(it.component)}
            {problem !== undefined && (
              <span class="refusal" role="alert">
                {problemText(problem)}
              </span>
            )}
          </td>
        </tr>
      )}
    </>
  );
}
