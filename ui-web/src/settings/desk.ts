// The configuration file on this page's desk: read, edited, judged by the server, saved. What is
// edited is kept for this tab, so that a reload loses nothing; a file with secrets in it is not
// left behind for longer.
import { batch, computed, effect, signal } from "@preact/signals";
import { RefusedError } from "../bus/socket";
import type { Checked, ContentView, Problem } from "../bus/schema.gen";
import { config, store } from "../shell/app";
import { draftOf, isEdited, isOvertaken, kept, opened, read, reloaded, typed, withSetting, type Draft, type Editing } from "./file";
import type { Schema } from "./offers";

const KEY = "sk.settings.";
const VALIDATE_AFTER = 300;
const READ_AGAIN = 2_000;

export const editing = signal<Editing | null>(null);
/** Why the file could not be read, or not be saved. */
export const unread = signal<Problem | null>(null);
export const unsaved = signal<Problem | null>(null);
export const checked = signal<Checked | null>(null);
export const checking = signal(false);
export const saving = signal(false);
export const schema = signal<Schema | null>(null);
/** Counts what replaced the text from outside the editor: reads, menus, "reload". */
export const replaced = signal(0);

export const edited = computed(() => editing.value !== null && isEdited(editing.value));
export const overtaken = computed(() => editing.value !== null && isOvertaken(editing.value));
export const problems = computed(() => checked.value?.problems ?? []);
export const warnings = computed(() => checked.value?.warnings ?? []);

let timer: ReturnType<typeof setTimeout> | undefined;
let judgement = 0;
let reading = 0;

/** Follow the file while somebody looks. Returns how to stop. */
export function follow(): () => void {
  let again: ReturnType<typeof setTimeout> | undefined;
  // Each word about the configuration may mean another text on the disk, or another file.
  const stop = effect(() => {
    const slice = store.world.value.config;
    clearTimeout(again);
    if (slice === null || slice.stale) return;
    const { path } = slice.value;
    const ask = async (): Promise<void> => {
      await readFile(path);
      if (unread.peek() !== null) again = setTimeout(() => void ask(), READ_AGAIN);
    };
    void ask();
  });
  void learn();
  return () => {
    stop();
    clearTimeout(again);
    clearTimeout(timer);
  };
}

async function learn(): Promise<void> {
  if (schema.peek() !== null) return;
  try {
    schema.value = (await store.query("Schema", {})).value as Schema;
  } catch (error) {
    // Without it nothing is completed; the next visit asks again.
    if (!(error instanceof RefusedError)) throw error;
  }
}

async function readFile(path: string): Promise<void> {
  const ticket = ++reading;
  try {
    const content = (await store.query("Content", {})).value as ContentView;
    if (ticket !== reading || config.peek()?.path !== path) return;
    unread.value = null;
    const before = editing.peek();
    if (before?.path === path) become(read(before, content));
    else become(opened(path, content, restored(path)));
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (ticket === reading) unread.value = error.problem;
  }
}

function restored(path: string): Draft | null {
  return JSON.parse(sessionStorage.getItem(KEY + path) ?? "null") as Draft | null;
}

/** The text came from elsewhere than the editor. */
function become(next: Editing): void {
  const before = editing.peek();
  batch(() => {
    editing.value = next;
    if (before?.text !== next.text || before.path !== next.path) replaced.value++;
  });
  keep(next);
  if (before?.text !== next.text || checked.peek() === null) validate(0);
}

function keep(now: Editing): void {
  const draft = draftOf(now);
  if (draft === null) sessionStorage.removeItem(KEY + now.path);
  else sessionStorage.setItem(KEY + now.path, JSON.stringify(draft));
}

export function type(text: string): void {
  if (editing.value === null) return;
  editing.value = typed(editing.value, text);
  keep(editing.value);
  validate(VALIDATE_AFTER);
}

function validate(after: number): void {
  clearTimeout(timer);
  const ticket = ++judgement;
  checking.value = true;
  timer = setTimeout(() => void judge(ticket), after);
}

async function judge(ticket: number): Promise<void> {
  const text = editing.peek()?.text ?? "";
  try {
    const { value } = await store.query("Validate", { text });
    if (ticket !== judgement) return;
    batch(() => {
      checked.value = value as Checked;
      checking.value = false;
    });
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (ticket !== judgement) return;
    if (error.problem.id !== "too-long") {
      timer = setTimeout(() => void judge(ticket), READ_AGAIN);
      return;
    }
    batch(() => {
      checked.value = { problems: [error.problem], warnings: [], saved: false };
      checking.value = false;
    });
  }
}

/** What is being written into the file, and when that is over. */
let written: { text: string; over: Promise<boolean> } | null = null;

/** Write the text into the file. Says whether that was done; problems are in `checked`. */
export function save(): Promise<boolean> {
  const now = editing.peek();
  if (now === null || written !== null) return Promise.resolve(false);
  const over = write(now).finally(() => (written = null));
  written = { text: now.text, over };
  return over;
}

async function write(now: Editing): Promise<boolean> {
  saving.value = true;
  unsaved.value = null;
  try {
    const { text, base } = now;
    const value = (await store.query("Save", { text, digest: base.digest })).value as Checked;
    // What was refused may have been mended by now: of the text of now another judgement comes.
    if (!value.saved && editing.peek()?.text !== text) return false;
    judgement++;
    batch(() => {
      checked.value = value;
      checking.value = false;
    });
    if (!value.saved) return false;
    const content = (await store.query("Content", {})).value as ContentView;
    const after = editing.peek();
    // What was typed while the file was written is edited from what was written.
    if (after?.path === now.path) {
      const base = content.text === text ? content : { text, digest: "" };
      editing.value = read({ ...after, base, disk: base }, content);
      keep(editing.value);
      if (after.text !== text) validate(VALIDATE_AFTER);
    }
    return true;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    unsaved.value = error.problem;
    if (error.problem.id === "file-changed") await readFile(now.path);
    return false;
  } finally {
    saving.value = false;
  }
}

/** Go on with one's own text; the next save replaces what is on the disk. */
export function keepMine(): void {
  if (editing.value === null) return;
  unsaved.value = null;
  become(kept(editing.value));
}

export function reload(): void {
  if (editing.value === null) return;
  unsaved.value = null;
  become(reloaded(editing.value));
}

/** Set `theme` or `language` in the text; with nothing else unsaved, in the file too. */
export async function set(key: "theme" | "language", value: string): Promise<void> {
  const now = editing.peek();
  if (now === null) return;
  const alone = !isEdited(now) || now.text === written?.text;
  become(typed(now, withSetting(now.text, key, value)));
  if (!alone) return;
  await written?.over; // two menus in a row: what the first wrote is what the second begins from
  await save();
}
