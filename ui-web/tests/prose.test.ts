// A person's message is marked with whom it mentions, however late it is known who there is.
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, expect, it } from "vitest";
import type { AgentView, Channel } from "../src/bus/schema.gen";
import { NOTHING } from "../src/bus/world";
import { Prose } from "../src/channels/Prose";
import { store } from "../src/shell/app";

const AGENTS = [{ name: "alice", title: "Alice", icon: "" }] as unknown as AgentView[];
const CHANNELS = [
  { id: "c1", name: "review", direct: "", members: [] },
  { id: "c2", name: "", direct: "alice", members: [] },
] as unknown as Channel[];

async function known(agents: AgentView[]): Promise<void> {
  const slice = <T>(value: T) => ({ value, stale: false, asOf: 0 });
  await act(() => {
    store.world.value = { ...NOTHING, channels: slice(CHANNELS), agents: slice(agents) } as typeof NOTHING;
  });
}

async function marked(channel: string): Promise<number> {
  await act(() => render(h(Prose, { text: "@alice look", done: true, own: channel }), document.body));
  return document.querySelectorAll(".mention").length;
}

afterEach(() => render(null, document.body));

it("marks a mention once its agent is known", async () => {
  await known([]);
  expect(await marked("c1")).toBe(0);
  await known(AGENTS);
  expect(document.querySelectorAll(".mention")).toHaveLength(1);
});

it("marks none in a direct conversation, where a name is a word like any other", async () => {
  await known(AGENTS);
  expect(await marked("c2")).toBe(0);
});
