// The way to the worker that compares texts. Small ones are compared here and at once.
import { changeOf, firstRows, type Change } from "./change";
import type { Asked, Told } from "./diff.worker";
import address from "./diff.worker?worker&url";

/** Characters of both texts: below this, waiting for another thread takes longer than the work. */
const SMALL = 20_000;

/** More than this would be felt. */
const PATIENCE = 100;

let worker: Worker | null = null;
let ids = 0;
const waiting = new Map<number, (change: Change | null) => void>();

function theWorker(): Worker {
  if (worker !== null) return worker;
  worker = new Worker(trusted(address), { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<Told>) => {
    waiting.get(data.id)?.(data.change);
    waiting.delete(data.id);
  };
  // Without its script (the page was updated) both texts are shown as they are.
  worker.onerror = () => {
    for (const done of waiting.values()) done(null);
    waiting.clear();
    worker = null;
  };
  return worker;
}

interface Policy {
  createScriptURL(url: string): unknown;
}

interface Trusting {
  trustedTypes?: { createPolicy(name: string, rules: { createScriptURL(url: string): string }): Policy };
}

let policy: Policy | undefined;

/** The only script address that this page ever makes: one of its own chunks. */
function trusted(url: string): string {
  policy ??= (globalThis as Trusting).trustedTypes?.createPolicy("sk-worker", {
    createScriptURL: (asked) => {
      if (new URL(asked, location.href).origin !== location.origin) throw new TypeError(asked);
      return asked;
    },
  });
  return (policy?.createScriptURL(url) as string | undefined) ?? url;
}

/** At once, where the texts are small; `undefined` where they have to be compared elsewhere. */
export function comparedHere(before: string, after: string, limit: number): Change | null | undefined {
  if (before.length + after.length > SMALL) return undefined;
  const change = changeOf(before, after, PATIENCE);
  return change === null ? null : firstRows(change, limit);
}

/** Up to `limit` rows of the change; `null` where the texts are too different. */
export function compared(before: string, after: string, limit: number): Promise<Change | null> {
  const id = ++ids;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    const asked: Asked = { id, before, after, limit };
    theWorker().postMessage(asked);
  });
}
