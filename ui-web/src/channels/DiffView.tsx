// A change to a file: added and removed lines with three lines around them, side by side where there
// is room. Big ones are shown when they are asked for, and by pages.
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { headOf, isBlob, utf8Length } from "../bus/text";
import type { BlobRef, Diff, Problem, Text } from "../bus/schema.gen";
import { problemText, t } from "../i18n/translate";
import { size } from "../shell/format";
import { download, fetched } from "./blob";
import { pairs, type Change, type Row } from "./change";
import { compared, comparedHere } from "./comparing";

/** What is more than this is shown when asked for. */
const MANY_LINES = 400;
const MANY_BYTES = 200_000;
/** Above this a text is for the downloads. */
const MOST_BYTES = 24_000_000;
/** So many rows more each time. */
const PAGE = 2_000;
/** Of two texts that can't be compared so much is shown. */
const BEGINNING = 100_000;

/** Whether there is room for two columns of code. */
function useWide(): boolean {
  const [wide, setWide] = useState(() => matchMedia("(min-width: 1400px)").matches);
  useEffect(() => {
    const room = matchMedia("(min-width: 1400px)");
    const changed = (): void => setWide(room.matches);
    room.addEventListener("change", changed);
    return () => room.removeEventListener("change", changed);
  }, []);
  return wide;
}

export function DiffView({ diff }: { diff: Diff }): JSX.Element {
  const [asked, ask] = useState(false);
  const bytes = lengthOf(diff.newText) + lengthOf(diff.oldText ?? "");
  const far = isBlob(diff.newText) || isBlob(diff.oldText ?? "");
  if (bytes > MOST_BYTES) return <Apart diff={diff} why={t("diff.big", { size: size(bytes) })} />;
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
  return <Whole diff={diff} />;
}

/** The texts, once they are here. */
function Whole({ diff }: { diff: Diff }): JSX.Element {
  const before = whole(diff.oldText ?? "");
  const after = whole(diff.newText);
  const problem = before.problem ?? after.problem;
  if (before.text === null || after.text === null) {
    return (
      <div class="diff">
        <DiffHead diff={diff} />
        <p class="diff-note" role="status">
          {problem === null
            ? t("channel.loading")
            : t("message.unread", { reason: problemText(problem) })}
        </p>
      </div>
    );
  }
  return <Compared diff={diff} before={before.text} after={after.text} />;
}

function whole(text: Text): { text: string | null; problem: Problem | null } {
  return isBlob(text) ? fetched(text).value : { text, problem: null };
}

function lengthOf(text: Text): number {
  return isBlob(text) ? text.length : utf8Length(text);
}

interface ComparedProps {
  diff: Diff;
  before: string;
  after: string;
}

function Compared({ diff, before, after }: ComparedProps): JSX.Element {
  const [limit, show] = useState(MANY_LINES);
  const here = useMemo(() => comparedHere(before, after, limit), [before, after, limit]);
  const [there, setThere] = useState<Change | null | undefined>(undefined);
  useEffect(() => {
    if (here !== undefined) return;
    let wanted = true;
    void compared(before, after, limit).then((change) => wanted && setThere(change));
    return () => void (wanted = false);
  }, [before, after, limit, here]);
  const change = here === undefined ? there : here;
  if (change === null) return <Apart diff={diff} why={t("diff.different")} />;
  if (change === undefined) {
    return (
      <div class="diff">
        <DiffHead diff={diff} />
        <p class="diff-note" role="status">
          {t("diff.comparing")}
        </p>
      </div>
    );
  }
  const left = change.count - change.rows.length;
  return (
    <div class="diff">
      <DiffHead diff={diff} change={change} />
      {change.count === 0 && <p class="diff-note">{t("diff.same")}</p>}
      {change.count > 0 && <Lines rows={change.rows} created={diff.newFile} />}
      {left > 0 && (
        <p class="diff-note">
          {t("diff.left", { count: left })}{" "}
          <button type="button" class="link" onClick={() => show(limit + PAGE)}>
            {t("diff.more", { count: Math.min(PAGE, left) })}
          </button>
        </p>
      )}
    </div>
  );
}

/** Both texts by themselves, where they can't be compared. */
function Apart({ diff, why }: { diff: Diff; why: string }): JSX.Element {
  return (
    <div class="diff">
      <DiffHead diff={diff} />
      <p class="diff-note">{why}</p>
      <Side title={t("diff.before")} text={diff.oldText ?? ""} />
      <Side title={t("diff.after")} text={diff.newText} />
    </div>
  );
}

function Side({ title, text }: { title: string; text: Text }): JSX.Element | null {
  if (text === "") return null;
  const shown = headOf(text).slice(0, BEGINNING);
  return (
    <details class="diff-side">
      <summary>{title}</summary>
      <pre tabIndex={0}>{shown}</pre>
      <Rest text={text} name={title} />
    </details>
  );
}

function Rest({ text, name }: { text: Text; name: string }): JSX.Element | null {
  if (!isBlob(text)) return null;
  const ref: BlobRef = text;
  return (
    <p class="diff-note">
      <button type="button" class="link" onClick={() => void download(ref, `${name}.txt`)}>
        {t("tool.download", { size: size(ref.length) })}
      </button>
    </p>
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

const KINDS = { "+": "add", "-": "del", " ": "same", "@": "gap" } as const;

/** One column for a file that is new, however wide the page. */
function Lines({ rows, created }: { rows: readonly Row[]; created: boolean }): JSX.Element {
  const wide = useWide();
  if (created || !wide) {
    return (
      <div class="diff-box" tabIndex={0}>
        <div class="hunk">
          {rows.map((row, index) => (
            <Line key={index} row={row} number={row.sign === "-" ? row.old : row.now} />
          ))}
        </div>
      </div>
    );
  }
  const both = pairs(rows);
  return (
    <div class="diff-box diff-split" tabIndex={0}>
      {[0, 1].map((side) => (
        <div key={side} class="diff-half">
          <div class="hunk">
            {both.map((pair, index) => {
              const row = pair[side] ?? null;
              if (row === null) return <div key={index} class="diff-line diff-none" />;
              return <Line key={index} row={row} number={side === 0 ? row.old : row.now} />;
            })}
          </div>
        </div>
      ))}
    </div>
  );
}

function Line({ row, number }: { row: Row; number: number }): JSX.Element {
  const { sign, text, cut } = row;
  if (sign === "@") return <div class="diff-line diff-gap">⋯</div>;
  return (
    <div class={`diff-line diff-${KINDS[sign]}`}>
      <span class="diff-number" aria-hidden="true">
        {number}
      </span>
      <span class="diff-sign">{sign === "-" ? "−" : sign}</span>
      <span class="diff-text">
        {text}
        {cut > 0 && <span class="chip">{t("diff.cut", { count: cut })}</span>}
      </span>
    </div>
  );
}
