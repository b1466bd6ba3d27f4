// The one door for text that people read: `t(key, params)` in the language in force.
import { computed, signal } from "@preact/signals";
import type { Problem } from "../bus/schema.gen";
import { en, type Entry, type Key } from "./en";
import { fr } from "./fr";
import { beginningsInFrench, problemsInFrench, wordedParams, wordsInFrench } from "./problems.fr";

export type Language = "en" | "fr";
export type Params = Readonly<Record<string, string | number>>;

const CATALOGUES: Record<Language, Record<Key, Entry>> = { en, fr };

/** What the configuration asks for; `system` is the browser's choice. */
export const wanted = signal<"system" | Language>("system");

export const language = computed<Language>(() => {
  if (wanted.value !== "system") return wanted.value;
  return navigator.language.toLowerCase().startsWith("fr") ? "fr" : "en";
});

/** How the reader writes that language: in English the clock has twelve hours or twenty-four. */
export const locale = computed(
  () => navigator.languages.find((one) => one.toLowerCase().split("-")[0] === language.value) ?? language.value,
);

const numbers = computed(() => new Intl.NumberFormat(locale.value));
const plurals = computed(() => new Intl.PluralRules(language.value));

/** The text of `key`; `params.count` chooses between one and several. */
export function t(key: Key, params: Params = {}): string {
  const entry: Entry = CATALOGUES[language.value][key];
  return filled(form(entry, params), params);
}

function form(entry: Entry, params: Params): string {
  if (typeof entry === "string") return entry;
  return plurals.value.select(Number(params["count"])) === "one" ? entry.one : entry.other;
}

function filled(text: string, params: Params): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = params[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? numbers.value.format(value) : value;
  });
}

export function isKey(key: string): key is Key {
  return key in en;
}

function worded(name: string, value: string | number): string | number {
  if (typeof value !== "string" || !wordedParams.includes(name)) return value;
  const [english, french = ""] =
    Object.entries(beginningsInFrench).find(([begins]) => value.startsWith(begins)) ?? [];
  return english === undefined ? (wordsInFrench[value] ?? value) : french + value.slice(english.length);
}

/** A problem in the reader's language where its kind is known there, else as it came. */
export function problemText({ id, message, params }: Problem): string {
  if (language.value !== "fr") return message;
  const known = problemsInFrench[id] ?? [];
  const words = Object.fromEntries(Object.entries(params as Params).map(([name, value]) => [name, worded(name, value)]));
  const said = (typeof known === "string" ? [known] : known).map((text) => filled(text, words));
  // One that isn't filled lacks a param: it is for another case, or of another version.
  return said.find((text) => !/\{\w+\}/.test(text)) ?? message;
}
