// Going on with another configuration file: one is asked only where there is something to decide.
import { beforeEach, expect, it } from "vitest";
import type { ConfigView } from "../src/bus/world";
import { NOTHING } from "../src/bus/world";
import { already, ask, wanted } from "../src/settings/opening";
import { store } from "../src/shell/app";

beforeEach(() => {
  const value = { path: "/home/me/sidekicks.yaml" } as ConfigView;
  store.world.value = { ...NOTHING, config: { value, stale: false, asOf: 0 } } as typeof NOTHING;
});

it("asks before it opens another file", () => {
  ask("/home/me/work.yaml");
  expect([wanted.value, already.value]).toEqual(["/home/me/work.yaml", null]);
});

it("says of the file in use that it is, and asks nothing", () => {
  ask("/home/me/work.yaml");
  ask("/home/me/sidekicks.yaml");
  expect([wanted.value, already.value]).toEqual([null, "/home/me/sidekicks.yaml"]);
});
