// Who will answer what stands in the composer, said by the very function that routes it.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { RefusedError } from "../bus/socket";
import type { Answering, Channel, PreviewView } from "../bus/schema.gen";
import { problemText, t } from "../i18n/translate";
import { agents, channels, nameOf, store, titleOf, turns } from "../shell/app";

const ASK_AFTER = 150;
/** A text of this size is asked about when one has stopped writing. */
const LONG = 50_000;
const ASK_LONG_AFTER = 1_000;

export function WhoAnswers({ channel: id, text }: { channel: string; text: string }): JSX.Element {
  const [view, show] = useState<PreviewView | null>(null);
  const channel = channels.value.find((one) => one.id === id);
  const live = store.isLive.value;
  useEffect(() => show(null), [id]);
  useEffect(() => {
    if (!live) return show(null);
    let wanted = true;
    const timer = setTimeout(
      () => void preview(id, text).then((found) => wanted && show(found)),
      text.length > LONG ? ASK_LONG_AFTER : ASK_AFTER,
    );
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [id, text, live, agents.value, turns.value, channel?.members]);
  return (
    <p class="who" aria-live="off">
      {channel === undefined || view === null ? "\u00a0" : <Said view={view} channel={channel} />}
    </p>
  );
}

/** `null` where the router can't say at the moment; a strip tells why. */
async function preview(channel: string, text: string): Promise<PreviewView | null> {
  try {
    return (await store.query("Preview", { channel, text })).value as PreviewView;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return null;
  }
}

function Said({ view, channel }: { view: PreviewView; channel: Channel }): JSX.Element {
  const { answering, unknown, problem } = view;
  return (
    <>
      {answering.length > 0 && (
        <span class="who-answers">
          {"→ "}
          {answering.map((one, index) => (
            <span key={one.agent}>
              {index > 0 && t("who.then")}
              <strong>{titleOf(one.agent)}</strong>
              <Remarks one={one} channel={channel} />
            </span>
          ))}
        </span>
      )}
      {answering.length === 0 && problem !== undefined && (
        <span class="who-problem">{problemText(problem)}</span>
      )}
      {unknown.map((name) => (
        <span key={name} class="chip chip-warn">
          {t("who.unknown", { name })}
        </span>
      ))}
    </>
  );
}

function Remarks({ one, channel }: { one: Answering; channel: Channel }): JSX.Element | null {
  const { joins, starts, waitsFor, stops, problem } = one;
  const said: string[] = [];
  if (problem !== undefined) said.push(problemText(problem));
  else {
    if (joins) said.push(t("who.joins"));
    if (stops !== undefined) said.push(t("who.stops", { agent: titleOf(stops) }));
    else if (starts) said.push(t("who.starts"));
    if (waitsFor !== undefined && waitsFor.channel !== channel.id) {
      const other = channels.value.find(({ id }) => id === waitsFor.channel);
      said.push(t("who.waits", { channel: other === undefined ? waitsFor.channel : nameOf(other) }));
    }
  }
  if (said.length === 0) return null;
  return <span class={problem === undefined ? undefined : "who-problem"}> ({said.join(", ")})</span>;
}
