// Mentions as they are shown: what reads as one is marked, and nothing else.
import { expect, it } from "vitest";
import { markMentions } from "../src/channels/pills";
import { rendered } from "../src/markdown/render";

const NAMES = ["bob", "bob-2", "алиса"];

it.each([
  ["ask @bob now", ["@bob"]],
  ["@BOB, and @bob-2: hello", ["@BOB", "@bob-2"]],
  ["@bobby and @bob-3 and me@bob.example", []],
  ["`@bob` and [@bob](http://a.example/)", []],
  ["_@bob_ **@bob**", ["@bob", "@bob"]],
  ["مرحبا @bob كيف", ["@bob"]],
  ["@алиса", ["@алиса"]],
  ["@bob/@bob-2", ["@bob"]],
  ["你好@bob你好", ["@bob"]],
  ["@nobody", []],
])("%j marks %j", (text, expected) => {
  const box = document.createElement("div");
  const drawn = rendered(text, { breaks: true });
  markMentions(drawn, NAMES);
  box.append(drawn);
  const whole = document.createElement("div");
  whole.append(rendered(text, { breaks: true }));
  expect([...box.querySelectorAll(".mention")].map((pill) => pill.textContent)).toEqual(expected);
  expect(box.textContent).toBe(whole.textContent);
});
