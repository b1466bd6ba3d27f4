// Agents' icons that are images: asked for once each, as the page can't open a path of the machine.
import { signal, type Signal } from "@preact/signals";
import type { IconView } from "../bus/schema.gen";
import { RefusedError } from "../bus/socket";
import { store } from "../shell/app";

const faces = new Map<string, Signal<string | null>>();

/** The image at the path `icon` of an agent, as an address; `null` until it is here, or if it never is. */
export function face(agent: string, icon: string): string | null {
  const { epoch } = store.world.value;
  if (epoch === 0) return null;
  const key = `${epoch} ${agent} ${icon}`;
  let made = faces.get(key);
  if (made === undefined) {
    faces.set(key, (made = signal(null)));
    void ask(agent, made);
  }
  return made.value;
}

async function ask(agent: string, made: Signal<string | null>): Promise<void> {
  try {
    const { mimeType, data } = (await store.query("Icon", { agent })).value as IconView;
    made.value = `data:${mimeType};base64,${data}`;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    // The letter stays; what is wrong with the file is for whoever wrote its path.
    console.warn(error.problem.message);
  }
}
