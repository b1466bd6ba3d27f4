// How full an agent's context window is: a bar with words, never by colour alone.
import type { JSX } from "preact";
import type { Usage } from "../bus/schema.gen";
import { t } from "../i18n/translate";
import { titleOf } from "../shell/app";
import { count, percent } from "../shell/format";

const NEARLY = 0.8;
const FULL = 0.95;

interface Props {
  agent: string;
  usage: Usage;
  /** Only the share, where several stand side by side. */
  short?: boolean;
}

export function UsageMeter({ agent, usage, short = false }: Props): JSX.Element {
  const used = count(usage.used);
  const label = t("usage.label", { agent: titleOf(agent) });
  if (usage.size === 0) {
    return (
      <span class="usage" title={label}>
        {t("usage.only", { used })}
      </span>
    );
  }
  const share = usage.used / usage.size;
  const level = share >= FULL ? "full" : share >= NEARLY ? "nearly" : "fine";
  const words = t("usage.of", { used, size: count(usage.size), percent: percent(share) });
  return (
    <span class={`usage usage-${level}`} title={`${label}: ${words}`}>
      <meter class="usage-bar" min={0} max={1} value={Math.min(share, 1)} aria-label={label}>
        {words}
      </meter>
      <span>{short ? percent(share) : words}</span>
      {level !== "fine" && <strong>{t(`usage.${level}`)}</strong>}
    </span>
  );
}
