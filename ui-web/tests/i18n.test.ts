// Both catalogues say the same things, as their languages are written.
import { expect, it, vi } from "vitest";
import { en, type Entry } from "../src/i18n/en";
import { fr } from "../src/i18n/fr";
import { problemsInFrench } from "../src/i18n/problems.fr";
import { locale, problemText, t, wanted } from "../src/i18n/translate";

const WRONG = /[^\u202f][:;!?]/;

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
    forms(FRENCH[key]).some((text) => WRONG.test(text)),
  );
  expect(wrong).toEqual([]);
  expect(Object.values(problemsInFrench).flat().filter((text) => WRONG.test(text))).toEqual([]);
});

it("chooses the form by the language's own rule", () => {
  wanted.value = "en";
  expect([0, 1, 2].map((count) => t("turn.queued", { count }))).toEqual(["0 queued", "1 queued", "2 queued"]);
  expect(t("permission.refused", { count: 1 })).toBe("refused once this turn");
  wanted.value = "fr";
  expect(t("channel.new", { count: 0 })).toBe("0 nouveau message");
  expect(t("channel.new", { count: 2 })).toBe("2 nouveaux messages");
});

it("words a problem in French where it can, and else leaves it as it came", () => {
  const problem = { id: "agent-ended", message: "Dan ended by itself (exit 1)", params: { agent: "Dan", how: "exit 1" }, warning: false };
  wanted.value = "en";
  expect(problemText(problem)).toBe(problem.message);
  wanted.value = "fr";
  expect(problemText(problem)).toBe("Dan s’est arrêté de lui-même (exit 1).");
  expect(problemText({ ...problem, params: { agent: "Dan", how: "exit code 3" } })).toBe(
    "Dan s’est arrêté de lui-même (code de sortie 3).",
  );
  expect(problemText({ ...problem, params: {} })).toBe(problem.message);
  expect(problemText({ ...problem, id: "agent-error" })).toBe(problem.message);
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
    return !code.includes(`"${key}"`) && !code.includes(`\`${family}\${`);
  });
  expect(unused).toEqual([]);
});

it("writes numbers and times as the reader's own kind of a language does", () => {
  vi.spyOn(navigator, "languages", "get").mockReturnValue(["de-DE", "en-GB", "fr-CA"]);
  wanted.value = "en";
  const english = locale.value;
  wanted.value = "fr";
  expect([english, locale.value]).toEqual(["en-GB", "fr-CA"]);
});
