// A modal dialog: the browser keeps the focus in it; closed, the focus is where it was before.
import { X } from "lucide";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../i18n/translate";
import { closeDialog, dismissDialog } from "./dialog";
import { Icon } from "./icon";

interface Props {
  title: string;
  children: ComponentChildren;
  /** Whether the title is for ears only, as what stands under it says enough. */
  plain?: boolean;
  /** Where there is more to read than one column takes. */
  wide?: boolean;
}

export function DialogBox({ title, children, plain = false, wide = false }: Props): JSX.Element {
  const box = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current?.showModal();
    return () => {
      // What closed it may have moved the focus on purpose, or taken away where it was.
      const lost = document.activeElement === document.body || document.activeElement === null;
      if (lost && before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  // A click beside it means: away with it.
  useEffect(() => {
    const element = box.current;
    const pressed = (event: MouseEvent): void => {
      if (event.target !== element) return;
      event.preventDefault(); // or it takes the focus that goes back now
      dismissDialog();
    };
    element?.addEventListener("mousedown", pressed);
    return () => element?.removeEventListener("mousedown", pressed);
  }, []);
  // The browser says that it closed one a frame later: by then another may be open.
  const closed = (): void => {
    if (box.current !== null) closeDialog();
  };
  return (
    <dialog class={wide ? "dialog dialog-wide" : "dialog"} ref={box} aria-label={title} onClose={closed}>
      <div class="dialog-body">
        {!plain && (
          <header class="dialog-head">
            <h2>{title}</h2>
            <button
              type="button"
              class="button"
              aria-label={t("pane.close")}
              title={t("pane.close")}
              onClick={dismissDialog}
            >
              <Icon of={X} />
            </button>
          </header>
        )}
        {children}
      </div>
    </dialog>
  );
}
