// Both catalogues say the same things, as their languages are written.
import { expect, it } from "vitest";
import { en, type Entry } from "../src/i18n/en";
import { fr } from "../src/i18n/fr";

const ENGLISH: Record<string, Entry> = en;
const FRENCH: Record<string, Entry> = fr;

function forms(entry: Entry | undefined): string[] {
  if (entry === undefined) return [];
  return typeof entry === "string" ? [entry] : [entry.one, entry.other];
}

function names(entry: Entry | undefined): string[] {
  const all = forms(entry).flatMap((text) => text.match(/\{\w+\}/g) ?? []);
  return [...new Set(all)].sort();
}

it("has the same keys in both languages", () => {
  expect(Object.keys(FRENCH).sort()).toEqual(Object.keys(ENGLISH).sort());
});

it("leaves no text empty", () => {
  const empty = [ENGLISH, FRENCH].flatMap((catalogue) =>
    Object.keys(catalogue).filter((key) => forms(catalogue[key]).some((text) => text.trim() === "")),
  );
  expect(empty).toEqual([]);
});

it("fills in the same things", () => {
  const different = Object.keys(ENGLISH).filter(
    (key) => names(ENGLISH[key]).join() !== names(FRENCH[key]).join(),
  );
  expect(different).toEqual([]);
});

it("puts a narrow no-break space before : ; ! ? in French", () => {
  const wrong = Object.keys(FRENCH).filter((key) =>
    forms(FRENCH[key]).some((text) => /[^\u202f][:;!?]/.test(text.replace(/https?:/g, ""))),
  );
  expect(wrong).toEqual([]);
});

const SOURCES = import.meta.glob<string>("../src/**/*.{ts,tsx}", {
  query: "?raw",
  import: "default",
  eager: true,
});

it("holds no text that nothing shows", () => {
  const code = Object.entries(SOURCES)
    .filter(([path]) => !path.includes("/i18n/"))
    .map(([, text]) => text)
    .join("\n");
  const unused = Object.keys(ENGLISH).filter((key) => {
    const family = key.slice(0, key.lastIndexOf(".") + 1);
    return !code.includes(`"${key}"`) && !code.includes(`\`${family}\${`) && family !== "problem.";
  });
  expect(unused).toEqual([]);
});
