// The files opened last: one click from each; one that is gone can be taken off the list.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../bus/schema.gen";
import { RefusedError } from "../bus/socket";
import { problemText, t } from "../i18n/translate";
import { store } from "../shell/app";
import { reason } from "../shell/away";
import { useKeptFocus } from "../shell/keptFocus";
import { absent } from "./folders";
import { ask } from "./opening";

export function RecentFiles({ now }: { now: string }): JSX.Element | null {
  const [files, setFiles] = useState<readonly string[]>([]);
  const [missing, setMissing] = useState<ReadonlySet<string>>(new Set());
  const [refusal, setRefusal] = useState<Problem | null>(null);
  const list = useRef<HTMLUListElement>(null);
  useKeptFocus(list);
  useEffect(() => {
    let gone = false;
    store.query("Recent", {}).then(
      ({ value }) => {
        if (!gone) setFiles(value as readonly string[]);
      },
      (error: unknown) => {
        // Without the list one still opens by path; the next visit asks again.
        if (!(error instanceof RefusedError)) throw error;
      },
    );
    return () => void (gone = true);
  }, [now]);
  useEffect(() => {
    let gone = false;
    void absent(files).then((found) => {
      if (!gone) setMissing(found);
    });
    return () => void (gone = true);
  }, [files]);
  const forget = async (file: string): Promise<void> => {
    try {
      setFiles((await store.query("Forget", { path: file })).value as readonly string[]);
      setRefusal(null);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      setRefusal(error.problem);
    }
  };
  const away = reason("bus", "config");
  const others = files.filter((file) => file !== now);
  if (others.length === 0) return null;
  return (
    <>
      <h3>{t("settings.recent")}</h3>
      <ul class="settings-recent" ref={list}>
        {others.map((file) => (
          <li key={file}>
            <button type="button" class="link link-first" disabled={missing.has(file)} onClick={() => ask(file)}>
              {file}
            </button>
            {missing.has(file) && (
              <>
                <span class="quiet">{t("settings.missing")}</span>
                <button
                  type="button"
                  class="button"
                  aria-label={t("settings.forgetFile", { file })}
                  disabled={away !== undefined}
                  title={away}
                  onClick={() => void forget(file)}
                >
                  {t("settings.forget")}
                </button>
              </>
            )}
          </li>
        ))}
      </ul>
      {refusal !== null && (
        <p class="refusal" role="alert">
          {problemText(refusal)}
        </p>
      )}
    </>
  );
}
