// What the configuration's JSON Schema offers at a place of the text: keys, values, and what they
// mean. Pure; knows no editor.
import { ITEM, type Place, type Step } from "./place";

/** As much of JSON Schema as the configuration's own uses. */
export interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string;
  readonly description?: string;
  readonly title?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

export interface Offer {
  readonly label: string;
  /** What is put into the text; `\n` begins a line that is indented as deep as the word. */
  readonly text: string;
  /** Its kind or values, in a few characters. */
  readonly detail: string;
  readonly description: string;
  readonly needed: boolean;
}

export interface Meaning {
  readonly key: string;
  readonly description: string;
  readonly detail: string;
  /** As one would write it in the file; `null` where there is none. */
  readonly default: string | null;
}

export function offersAt(root: Schema, place: Place): readonly Offer[] {
  const all = at(root, place.path);
  return place.of === "value" ? all.flatMap(valuesOf) : all.flatMap((one) => inside(root, one, place));
}

/** What the key at the end of `path` means; `null` where the schema knows none. */
export function meaningOf(root: Schema, path: readonly Step[]): Meaning | null {
  const key = path.at(-1);
  const schema = named(root, path);
  if (schema === null || typeof key !== "string") return null;
  const [whole] = resolved(root, schema);
  const description = schema.description ?? whole?.description ?? "";
  return { key, description, detail: detailOf(root, schema), default: defaultOf(schema) };
}

/** The schemas that what stands at `path` may fit. */
function at(root: Schema, path: readonly Step[]): readonly Schema[] {
  let now = resolved(root, root);
  for (const step of path) now = now.flatMap((one) => stepped(root, one, step));
  return now;
}

/** The schema of the last key before references are followed: its own description is the nearer. */
function named(root: Schema, path: readonly Step[]): Schema | null {
  const key = path.at(-1);
  if (typeof key !== "string") return null;
  const found = at(root, path.slice(0, -1)).map(({ properties }) => properties?.[key]);
  return found.find((one) => one !== undefined) ?? null;
}

function stepped(root: Schema, schema: Schema, step: Step): readonly Schema[] {
  const next = step === ITEM ? schema.items : (schema.properties?.[step] ?? others(schema));
  return next === undefined ? [] : resolved(root, next);
}

function others({ additionalProperties: more }: Schema): Schema | undefined {
  return typeof more === "object" ? more : undefined;
}

function resolved(root: Schema, schema: Schema): readonly Schema[] {
  if (schema.$ref !== undefined) {
    const target = root.$defs?.[schema.$ref.split("/").at(-1) ?? ""];
    return target === undefined ? [] : resolved(root, target);
  }
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((one) => resolved(root, one));
  return [schema];
}

function inside(root: Schema, schema: Schema, { others: taken }: Place): readonly Offer[] {
  if (schema.items !== undefined) return resolved(root, schema.items).flatMap(itemsOf);
  return Object.entries(schema.properties ?? {})
    .filter(([key]) => !taken.has(key))
    .map(([key, one]) => ({
      label: key,
      text: `${key}:${opening(root, one)}`,
      detail: detailOf(root, one),
      description: one.description ?? resolved(root, one)[0]?.description ?? "",
      needed: schema.required?.includes(key) ?? false,
    }));
}

/** In a list, an item begins with a dash and the first thing that it needs. */
function itemsOf(schema: Schema): readonly Offer[] {
  const first = schema.required?.[0];
  const text = first === undefined ? "- " : `- ${first}: `;
  return [{ label: text.trimEnd(), text, detail: "", description: schema.description ?? "", needed: false }];
}

function valuesOf(schema: Schema): readonly Offer[] {
  const values = [
    ...(schema.enum ?? []),
    ...(schema.const === undefined ? [] : [schema.const]),
    ...(schema.type === "boolean" ? [true, false] : []),
    ...(schema.examples ?? []),
  ];
  const made = values.map((value) => written(value));
  const usual = defaultOf(schema);
  if (usual !== null && !made.includes(usual)) made.push(usual);
  return [...new Set(made)].map((text) => ({
    label: text,
    text,
    detail: text === usual ? "default" : "",
    description: "",
    needed: false,
  }));
}

function opening(root: Schema, schema: Schema): string {
  const [first] = resolved(root, schema);
  if (first?.type === "object") return "\n  ";
  if (first?.type === "array" && first.items !== undefined) {
    const needed = resolved(root, first.items)[0]?.required?.[0];
    return needed === undefined ? " " : `\n  - ${needed}: `;
  }
  return " ";
}

function detailOf(root: Schema, schema: Schema): string {
  const all = resolved(root, schema);
  const values = all.flatMap(({ enum: some }) => some ?? []);
  if (values.length > 0) return values.map(written).join(" | ");
  const kinds = [...new Set(all.map(({ type }) => type).filter((type) => type !== undefined && type !== "null"))];
  const [{ minimum, maximum } = {} as Schema] = all;
  const range = minimum === undefined || maximum === undefined ? "" : ` ${minimum}–${maximum}`;
  return kinds.join(" | ") + range;
}

function defaultOf({ default: value }: Schema): string | null {
  // An empty text says no more than that there is none.
  if (value === undefined || value === null || value === "" || typeof value === "object") return null;
  return written(value);
}

function written(value: unknown): string {
  return value === "" ? '""' : String(value);
}
