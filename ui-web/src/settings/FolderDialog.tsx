// A file dialog over the server's folders: a browser's own would show another machine's, or none.
import { CornerLeftUp, FileText, Folder as FolderIcon } from "lucide";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { RefusedError } from "../bus/socket";
import type { FolderView, Problem } from "../bus/schema.gen";
import { problemText, t } from "../i18n/translate";
import { closeDialog } from "../shell/dialog";
import { DialogBox } from "../shell/DialogBox";
import { Icon } from "../shell/icon";
import { roam } from "../shell/roam";
import { folder } from "./folders";

export function FolderDialog({ chosen }: { chosen: (path: string) => void }): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  const [view, setView] = useState<FolderView | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const asked = useRef(0);
  const look = async (path: string): Promise<void> => {
    const ticket = ++asked.current;
    setProblem(null);
    try {
      const found = await folder(path);
      if (ticket === asked.current) setView(found);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      if (ticket === asked.current) setProblem(error.problem);
    }
  };
  useEffect(() => {
    void look("");
    return () => void asked.current++;
  }, []);
  // With what is drawn, not after it: who is quick would have the focus taken from what he chose.
  useLayoutEffect(() => list.current?.querySelector("button")?.focus(), [view]);
  const parent = view?.parent;
  return (
    <DialogBox title={t("settings.choose")}>
      <code>{view?.path ?? t("channel.loading")}</code>
      {problem !== null && (
        <p class="refusal" role="alert">
          {problemText(problem)}
        </p>
      )}
      <ul class="folder-list" ref={list} onKeyDown={(event) => roam(event, list.current)}>
        {parent !== undefined && parent !== null && (
          <li>
            <button type="button" class="row" onClick={() => void look(parent)}>
              <Icon of={CornerLeftUp} />
              <span class="row-name">{t("settings.up")}</span>
            </button>
          </li>
        )}
        {view?.entries.map((entry) => (
          <li key={entry.path}>
            <button
              type="button"
              class="row"
              onClick={() => {
                if (entry.folder) return void look(entry.path);
                closeDialog();
                chosen(entry.path);
              }}
            >
              <Icon of={entry.folder ? FolderIcon : FileText} />
              <span class="row-name">{entry.name}</span>
            </button>
          </li>
        ))}
      </ul>
      {view?.entries.length === 0 && <p class="quiet">{t("settings.nothingHere")}</p>}
      {view?.more === true && <p class="quiet">{t("settings.moreHere")}</p>}
    </DialogBox>
  );
}
