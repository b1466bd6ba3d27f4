// The list above the composer: the focus stays in the field, which says what is chosen.
import { LoaderCircle } from "lucide";
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Avatar } from "../agents/Avatar";
import { problemText, t } from "../i18n/translate";
import type { Problem } from "../bus/schema.gen";
import { Icon } from "../shell/icon";
import type { Offered, Suggestions } from "./suggest";

export function optionId(list: string, index: number): string {
  return `${list}-${index}`;
}

interface Props {
  id: string;
  offered: Suggestions | null;
  active: number;
  /** Who is being asked for commands. */
  waits: readonly string[];
  refusal: Problem | undefined;
  onChoose: (list: Suggestions, option: Offered) => void;
}

export function SuggestionList({ id, offered, active, waits, refusal, onChoose }: Props): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const options = offered?.options ?? [];
  useLayoutEffect(() => {
    box.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [active, options]);
  return (
    <div class="suggest" ref={box}>
      {options.length > 0 && (
        <ul id={id} role="listbox" aria-label={t("suggest.label")}>
          {options.map((option, index) => (
            <li
              key={option.key}
              id={optionId(id, index)}
              role="option"
              class="suggest-option"
              aria-selected={index === active}
              // Not on click: that would take the focus out of the field first.
              onPointerDown={(event) => {
                event.preventDefault();
                if (offered !== null) onChoose(offered, option);
              }}
            >
              {options[index - 1]?.agent === option.agent ? (
                <span class="suggest-space" />
              ) : (
                <Avatar agent={option.agent} />
              )}
              <span class="suggest-label">
                {option.label}
                {option.hint !== "" && <span class="quiet"> {option.hint}</span>}
              </span>
              <span class="suggest-detail">
                {option.detail}
                {option.joins && <span class="chip">{t("suggest.joins")}</span>}
              </span>
            </li>
          ))}
        </ul>
      )}
      {waits.length > 0 && (
        <p class="suggest-note" role="status">
          <span class="flag-busy">
            <Icon of={LoaderCircle} size={14} />
          </span>{" "}
          {t("suggest.asking", { agents: waits.join(", ") })}
        </p>
      )}
      {waits.length === 0 && refusal !== undefined && (
        <p class="suggest-note refusal">{problemText(refusal)}</p>
      )}
    </div>
  );
}
