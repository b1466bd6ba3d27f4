// What the server tells of its folders, asked for as one looks around in them.
import { RefusedError } from "../bus/socket";
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

/**
 * Which of these files aren't there. Of one in a folder that may not be listed, or that isn't called
 * as such files are, nothing is known.
 */
export async function absent(files: readonly string[]): Promise<ReadonlySet<string>> {
  const folders = new Map<string, FolderView>();
  for (const where of new Set(files.map((file) => split(file).folder))) {
    try {
      folders.set(where, await folder(where));
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
    }
  }
  const isAbsent = (file: string): boolean => {
    const view = folders.get(split(file).folder);
    const { name } = split(file);
    if (!/\.ya?ml$/i.test(name)) return false;
    return view !== undefined && !view.more && !view.entries.some((entry) => entry.name === name);
  };
  return new Set(files.filter(isAbsent));
}
