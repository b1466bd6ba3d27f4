// What the server tells of its folders, asked for as one looks around in them.
import { store } from "../shell/app";
import type { FolderEntry, FolderView } from "../bus/schema.gen";

export async function folder(path: string): Promise<FolderView> {
  return (await store.query("Folder", { path })).value as FolderView;
}

/** The folder that a path which is being typed lies in, and the beginning of the name within. */
export function split(typed: string): { folder: string; name: string } {
  const cut = typed.lastIndexOf("/") + 1;
  return { folder: typed.slice(0, cut), name: typed.slice(cut) };
}

export function fitting(entries: readonly FolderEntry[], name: string): readonly FolderEntry[] {
  const wanted = name.toLowerCase();
  return entries.filter((entry) => entry.name.toLowerCase().startsWith(wanted));
}
