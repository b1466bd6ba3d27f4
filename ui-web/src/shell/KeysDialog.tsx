// What the keys do, and the two things about this browser alone that one can choose.
import type { JSX } from "preact";
import { byCtrlEnter, sendByCtrlEnter } from "../channels/sending";
import { t } from "../i18n/translate";
import type { Key } from "../i18n/en";
import { DialogBox } from "./DialogBox";
import { canNotify, notifies, notifyMe } from "./notify";

const CTRL = /Mac|iP/.test(navigator.platform) ? "⌘" : "Ctrl";

/** What each group of keys is for; then the keys, one box each, and what they do. */
const KEYS: readonly (readonly [Key, readonly (readonly [readonly string[], Key])[]])[] = [
  [
    "keys.writing",
    [
      [["Enter"], "keys.send"],
      [["Shift+Enter"], "keys.line"],
      [["↑"], "keys.recall"],
      [["@"], "keys.mention"],
      [["/"], "keys.command"],
      [["Esc", "Esc"], "keys.escape"],
      [[`${CTRL}+.`], "keys.stop"],
    ],
  ],
  [
    "keys.going",
    [
      [[`${CTRL}+K`], "keys.switcher"],
      [["Alt+↑", "Alt+↓"], "keys.neighbour"],
      [["Alt+Shift+↑", "Alt+Shift+↓"], "keys.unread"],
      [["Alt+P"], "keys.permission"],
      [["F6"], "keys.pane"],
      [["G A", "G F", "G S", "G B"], "keys.screens"],
    ],
  ],
  [
    "keys.reading",
    [
      [["J", "K"], "keys.message"],
      [["Enter"], "keys.unfold"],
      [["C"], "keys.copy"],
      [["End"], "keys.end"],
      [["Esc"], "keys.back"],
    ],
  ],
  [
    "keys.answering",
    [
      [["1 … 9"], "keys.option"],
      [["A", "⇧A", "R", "⇧R"], "keys.letters"],
    ],
  ],
];

const NAMES = {
  Enter: "key.enter",
  Shift: "key.shift",
  Esc: "key.escape",
  End: "key.end",
} as const satisfies Record<string, Key>;

/** As the reader's keyboard has them written on it. */
function onKeyboard(keys: string): string {
  return keys.replace(/Enter|Shift|Esc|End/g, (name) => t(NAMES[name as keyof typeof NAMES]));
}

export function KeysDialog(): JSX.Element {
  return (
    <DialogBox title={t("keys.title")} wide>
      <div class="keys-all">
        {KEYS.map(([title, keys]) => (
          <section key={title} class="keys">
            <h3>{t(title)}</h3>
            <dl>
              {keys.map(([names, does]) => (
                <div key={does}>
                  <dt>
                    {names.map((name, index) => (
                      <kbd key={index}>{onKeyboard(name)}</kbd>
                    ))}
                  </dt>
                  <dd>{t(does)}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <section class="keys">
        <h3>{t("keys.browser")}</h3>
        <label class="form-choice">
          <input
            type="checkbox"
            checked={byCtrlEnter.value}
            onChange={({ currentTarget }) => sendByCtrlEnter(currentTarget.checked)}
          />
          {t("keys.ctrlEnter", { key: onKeyboard(`${CTRL}+Enter`) })}
        </label>
        {canNotify && (
          <label class="form-choice">
            <input
              type="checkbox"
              checked={notifies.value}
              onChange={({ currentTarget }) => void notifyMe(currentTarget.checked)}
            />
            {t("keys.notify")}
          </label>
        )}
      </section>
    </DialogBox>
  );
}
