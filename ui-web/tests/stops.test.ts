// What the Tab key comes by in a list of messages.
import { afterEach, beforeEach, expect, it } from "vitest";
import { messageStops } from "../src/channels/stops";

let list: HTMLElement;
let end: () => void;

function row(name: string): HTMLElement {
  const made = document.createElement("article");
  made.dataset["message"] = name;
  made.tabIndex = -1;
  const button = document.createElement("button");
  button.textContent = name;
  made.append(button);
  return made;
}

/** By name, the buttons that Tab comes by. */
function stops(): string[] {
  const buttons = [...list.querySelectorAll<HTMLElement>("button")];
  return buttons.filter(({ tabIndex }) => tabIndex >= 0).map(({ textContent }) => textContent);
}

/** Observers are called when this turn is over. */
const observed = (): Promise<void> => new Promise((done) => setTimeout(done));

beforeEach(() => {
  list = document.createElement("div");
  const content = document.createElement("div");
  content.append(row("one"), row("two"), row("three"));
  list.append(content);
  document.body.replaceChildren(list);
  end = messageStops(list);
});

afterEach(() => end());

it("comes by the last message alone", () => {
  expect(stops()).toEqual(["three"]);
});

it("comes by the message that has the focus, until the focus has left the list", () => {
  list.querySelector("article")?.focus();
  expect(stops()).toEqual(["one"]);
  (document.activeElement as HTMLElement).blur();
  expect(stops()).toEqual(["three"]);
});

it("goes on to a message that comes", async () => {
  list.firstElementChild?.append(row("four"));
  await observed();
  expect(stops()).toEqual(["four"]);
});

it("stays where the reader is when one comes, and leaves what goes", async () => {
  const first = list.querySelector("article");
  first?.focus();
  list.firstElementChild?.append(row("four"));
  await observed();
  expect(stops()).toEqual(["one"]);
  first?.remove();
  await observed();
  expect(stops()).toEqual(["four"]);
});

it("knows what is drawn later, in this message and in another", async () => {
  const rows = list.querySelectorAll("article");
  for (const one of [rows[0], rows[2]]) {
    const late = document.createElement("button");
    late.textContent = "late";
    one?.append(late);
  }
  await observed();
  expect(stops()).toEqual(["three", "late"]);
});

it("never hides a request for permission", async () => {
  const ask = document.createElement("div");
  ask.className = "ask";
  ask.innerHTML = "<button>allow</button>";
  list.querySelector("article")?.append(ask);
  await observed();
  expect(stops()).toEqual(["allow", "three"]);
});
