// Which keys answer a permission card. Digits always; letters where one option alone has the kind.
import type { PermissionOption } from "../bus/schema.gen";

const LETTERS: Readonly<Record<string, string>> = {
  allow_once: "a",
  allow_always: "A",
  reject_once: "r",
  reject_always: "R",
};

/** The key that is shown on an option: its letter, else its digit, else none (from the tenth on). */
export function keyOf(options: readonly PermissionOption[], option: PermissionOption): string {
  const letter = LETTERS[option.kind];
  const alone = options.filter(({ kind }) => kind === option.kind).length === 1;
  if (letter !== undefined && alone) return letter;
  const digit = options.indexOf(option) + 1;
  return digit <= 9 ? String(digit) : "";
}

/** The option that a key chooses; `null` for any other key, and with a modifier held. */
export function chosen(
  options: readonly PermissionOption[],
  { key, shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent,
): PermissionOption | null {
  if (altKey || ctrlKey || metaKey) return null;
  if (/^[1-9]$/.test(key)) return options[Number(key) - 1] ?? null;
  if (key.length !== 1) return null;
  const letter = shiftKey ? key.toUpperCase() : key.toLowerCase();
  const fits = options.filter(({ kind }) => LETTERS[kind] === letter);
  return fits.length === 1 ? (fits[0] ?? null) : null;
}

/** What stands on a button: `⇧A` rather than `A`, which would read as the plain key. */
export function keyName(key: string): string {
  if (/^[A-Z]$/.test(key)) return `⇧${key}`;
  return key.toUpperCase();
}

/** How a button looks by what its option does. */
export function toneOf({ kind }: PermissionOption): "primary" | "plain" | "bad" {
  if (kind === "allow_once") return "primary";
  return kind.startsWith("reject") ? "bad" : "plain";
}
