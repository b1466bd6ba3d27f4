// Which dialog is open. One at a time; what they look like is their own business.
import { signal } from "@preact/signals";

export type Dialog =
  | { shows: "create" }
  | { shows: "rename"; channel: string }
  | { shows: "delete"; channel: string }
  | { shows: "switcher" }
  | { shows: "permissions" }
  | { shows: "keys" }
  | { shows: "folder"; chosen: (path: string) => void };

export const dialog = signal<Dialog | null>(null);

export function openDialog(next: Dialog): void {
  dialog.value = next;
}

/** It has done what it was for: whoever goes on from here says where the focus goes. */
export function closeDialog(): void {
  dialog.value = null;
}

/** Leave it: the browser puts the focus back to where it was before. */
export function dismissDialog(): void {
  document.querySelector<HTMLDialogElement>("dialog[open]")?.close();
  closeDialog();
}
