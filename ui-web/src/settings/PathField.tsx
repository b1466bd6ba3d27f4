// A path, typed by hand and completed by the server, which knows what is there.
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { RefusedError } from "../bus/socket";
import type { FolderEntry, FolderView } from "../bus/schema.gen";
import { t } from "../i18n/translate";
import { fitting, folder, split } from "./folders";

const MOST = 8;

export function PathField({ onChosen }: { onChosen: (path: string) => void }): JSX.Element {
  const [text, setText] = useState("");
  const [offers, setOffers] = useState<readonly FolderEntry[]>([]);
  const [at, setAt] = useState(-1);
  const known = useRef(new Map<string, FolderView>());
  const asked = useRef(0);

  const look = async (typed: string): Promise<void> => {
    const ticket = ++asked.current;
    const { folder: where, name } = split(typed);
    if (where === "") return setOffers([]);
    try {
      const view = known.current.get(where) ?? (await folder(where));
      known.current.set(where, view);
      if (ticket !== asked.current) return;
      setOffers(fitting(view.entries, name).slice(0, MOST));
    } catch (error) {
      // Outside of what may be listed nothing is offered; the path can be opened all the same.
      if (!(error instanceof RefusedError)) throw error;
      if (ticket === asked.current) setOffers([]);
    }
    setAt(-1);
  };
  const become = (typed: string): void => {
    setText(typed);
    void look(typed);
  };
  const close = (): void => {
    asked.current++;
    setOffers([]);
    setAt(-1);
  };
  const take = (entry: FolderEntry): void => {
    if (entry.folder) return become(`${entry.path}/`);
    setText(entry.path);
    close();
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.isComposing || event.keyCode === 229) return;
    const count = offers.length;
    if (count > 0 && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      setAt((at + (event.key === "ArrowDown" ? 1 : count + (at < 0 ? 0 : -1))) % count);
    } else if (count > 0 && event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else if (event.key === "Enter" || (event.key === "Tab" && at >= 0)) {
      const entry = offers[at];
      event.preventDefault();
      if (entry !== undefined) take(entry);
      else if (text.trim() !== "") onChosen(text.trim());
    }
  };
  return (
    <div class="path-field">
      <label class="path-label" for="settings-path">
        {t("settings.path")}
      </label>
      <div class="path-row">
        <input
          id="settings-path"
          type="text"
          class="field"
          role="combobox"
          aria-expanded={offers.length > 0}
          aria-controls="settings-paths"
          aria-autocomplete="list"
          aria-activedescendant={at < 0 ? undefined : `settings-path-${at}`}
          autocomplete="off"
          spellcheck={false}
          placeholder="~/sidekicks.yaml"
          value={text}
          onInput={({ currentTarget }) => become(currentTarget.value)}
          onKeyDown={keys}
          onBlur={close}
        />
        <button
          type="button"
          class="button"
          disabled={text.trim() === ""}
          onClick={() => onChosen(text.trim())}
        >
          {t("settings.open")}
        </button>
      </div>
      <ul id="settings-paths" class="path-offers" role="listbox" aria-label={t("settings.path")} hidden={offers.length === 0}>
        {offers.map((entry, index) => (
          <li
            key={entry.path}
            id={`settings-path-${index}`}
            role="option"
            aria-selected={index === at}
            // Before the field loses the focus.
            onMouseDown={(event) => {
              event.preventDefault();
              take(entry);
            }}
          >
            {entry.name}
            {entry.folder ? "/" : ""}
          </li>
        ))}
      </ul>
    </div>
  );
}
