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

export function closeDialog(): void {
  dialog.value = null;
}
