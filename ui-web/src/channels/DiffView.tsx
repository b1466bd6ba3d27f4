// A change to a file: added and removed lines with three lines around them.
import { structuredPatch } from "diff";
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { headOf, isBlob, utf8Length } from "../bus/text";
import type { Diff, Text } from "../bus/schema.gen";
import { t } from "../i18n/translate";
import { size } from "../shell/format";
import { fetched } from "./blob";

/** What is more than this is shown when asked for. */
const MANY_LINES = 400;
const MANY_BYTES = 200_000;
/** Two texts with nothing in common take for ever to compare. */
const PATIENCE = 300;

interface Line {
  readonly sign: "+" | "-" | " ";
  readonly text: string;
  readonly number: number;
}

interface Change {
  readonly hunks: readonly (readonly Line[])[];
  readonly added: number;
  readonly removed: number;
}

export function changeOf(before: string, after: string): Change | null {
  const patch = structuredPatch("", "", before, after, "", "", { context: 3, timeout: PATIENCE });
  if (patch === undefined) return null;
  let added = 0;
  let removed = 0;
  const hunks = patch.hunks.map(({ lines, oldStart, newStart }) => {
    let old = oldStart;
    let now = newStart;
    const made: Line[] = [];
    for (const line of lines) {
      const sign = line[0];
      const text = line.slice(1);
      if (sign === "+") {
        added++;
        made.push({ sign, text, number: now++ });
      } else if (sign === "-") {
        removed++;
        made.push({ sign, text, number: old++ });
      } else if (sign === " ") {
        made.push({ sign, text, number: now++ });
        old++;
      }
    }
    return made;
  });
  return { hunks, added, removed };
}

export function DiffView({ diff }: { diff: Diff }): JSX.Element {
  const [asked, ask] = useState(false);
  const bytes = lengthOf(diff.newText) + lengthOf(diff.oldText ?? "");
  const far = isBlob(diff.newText) || isBlob(diff.oldText ?? "");
  if ((far || bytes > MANY_BYTES) && !asked) {
    return (
      <div class="diff">
        <DiffHead diff={diff} />
        <p class="diff-note">
          {t("diff.big", { size: size(bytes) })}{" "}
          <button type="button" class="link" onClick={() => ask(true)}>
            {t("diff.show")}
          </button>
        </p>
      </div>
    );
  }
  const before = whole(diff.oldText ?? "");
  const after = whole(diff.newText);
  if (before === null || after === null) {
    return (
      <div class="diff">
        <DiffHead diff={diff} />
        <p class="diff-note">{t("channel.loading")}</p>
      </div>
    );
  }
  return <Compared diff={diff} before={before} after={after} />;
}

/** The text, or `null` while it is on its way. */
function whole(text: Text): string | null {
  return isBlob(text) ? fetched(text).value.text : text;
}

function lengthOf(text: Text): number {
  return isBlob(text) ? text.length : utf8Length(text);
}

function Compared({ diff, before, after }: { diff: Diff; before: string; after: string }): JSX.Element {
  const change = useMemo(() => changeOf(before, after), [before, after]);
  const [all, showAll] = useState(false);
  if (change === null) {
    return (
      <div class="diff">
        <DiffHead diff={diff} />
        <p class="diff-note">{t("diff.different")}</p>
        <details>
          <summary>{t("diff.before")}</summary>
          <pre tabIndex={0}>{before}</pre>
        </details>
        <details>
          <summary>{t("diff.after")}</summary>
          <pre tabIndex={0}>{after}</pre>
        </details>
      </div>
    );
  }
  const many = change.added + change.removed > MANY_LINES;
  return (
    <div class="diff">
      <DiffHead diff={diff} change={change} />
      {change.hunks.length === 0 && <p class="diff-note">{t("diff.same")}</p>}
      {many && !all ? (
        <p class="diff-note">
          <button type="button" class="link" onClick={() => showAll(true)}>
            {t("diff.show")}
          </button>
        </p>
      ) : (
        <div class="diff-box" tabIndex={0}>
          {change.hunks.map((lines, index) => (
            <Hunk key={index} lines={lines} />
          ))}
        </div>
      )}
    </div>
  );
}

function DiffHead({ diff, change }: { diff: Diff; change?: Change }): JSX.Element {
  return (
    <div class="diff-head">
      <code>{headOf(diff.path)}</code>
      {diff.newFile && <span class="chip">{t("diff.new")}</span>}
      {change !== undefined && (
        <span>
          <span class="diff-added">+{change.added}</span>{" "}
          <span class="diff-removed">−{change.removed}</span>
        </span>
      )}
    </div>
  );
}

const KINDS = { "+": "add", "-": "del", " ": "same" } as const;

function Hunk({ lines }: { lines: readonly Line[] }): JSX.Element {
  return (
    <div class="hunk">
      {lines.map(({ sign, text, number }, index) => (
        <div key={index} class={`diff-line diff-${KINDS[sign]}`}>
          <span class="diff-number" aria-hidden="true">
            {number}
          </span>
          <span class="diff-sign">{sign === "-" ? "−" : sign}</span>
          <span class="diff-text">{text}</span>
        </div>
      ))}
    </div>
  );
}
