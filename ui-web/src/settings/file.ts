// The configuration file while somebody edits it: what one started from, what stands in the editor,
// what is on the disk by now. Pure; who reads and writes it is elsewhere.
import type { ContentView } from "../bus/schema.gen";

export interface Editing {
  readonly path: string;
  /** What the text in the editor was made from. A save says so by its digest. */
  readonly base: ContentView;
  readonly disk: ContentView;
  readonly text: string;
}

/** What survives a reload of the page. */
export interface Draft {
  readonly base: ContentView;
  readonly text: string;
}

/** The file as it was read, with what an earlier life of this page had made of it. */
export function opened(path: string, disk: ContentView, draft: Draft | null): Editing {
  if (draft === null) return { path, base: disk, disk, text: disk.text };
  return read({ path, base: draft.base, disk: draft.base, text: draft.text }, disk);
}

export function isEdited({ base, text }: Editing): boolean {
  return text !== base.text;
}

/** Whether the file on the disk has become another one than the text was made from. */
export function isOvertaken({ base, disk }: Editing): boolean {
  return base.digest !== disk.digest;
}

export function typed(editing: Editing, text: string): Editing {
  return { ...editing, text };
}

/** The file was read again. Where nothing was edited, or both say the same, it is taken over. */
export function read(editing: Editing, disk: ContentView): Editing {
  const follows = !isEdited(editing) || editing.text === disk.text;
  return follows ? { ...editing, base: disk, disk, text: disk.text } : { ...editing, disk };
}

/** Go on with one's own text: the next save replaces what is on the disk. */
export function kept(editing: Editing): Editing {
  return { ...editing, base: editing.disk };
}

/** Drop one's own text. */
export function reloaded({ path, disk }: Editing): Editing {
  return { path, base: disk, disk, text: disk.text };
}

export function draftOf(editing: Editing): Draft | null {
  return isEdited(editing) ? { base: editing.base, text: editing.text } : null;
}

/**
 * `text` with a top-level `key` set to `value`: in its line where it has one, in the line where it
 * is commented out, else before the first key. Nothing else of the file changes.
 */
export function withSetting(text: string, key: string, value: string): string {
  const lines = text.split("\n");
  const there = lines.findIndex((line) => new RegExp(`^${key}\\s*:`).test(line));
  const hidden = lines.findIndex((line) => new RegExp(`^#\\s?${key}\\s*:`).test(line));
  const at = there >= 0 ? there : hidden;
  if (at >= 0) {
    const [, gap = "", comment = ""] = /:\s*[^\s#]*(\s*)(#.*)?$/.exec(lines[at] ?? "") ?? [];
    return lines.with(at, `${key}: ${value}${comment === "" ? "" : gap + comment}`).join("\n");
  }
  const first = lines.findIndex((line) => /^[^\s#%-]/.test(line));
  const end = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  const place = first < 0 ? end : first;
  return lines.toSpliced(place, 0, `${key}: ${value}`).join("\n");
}
