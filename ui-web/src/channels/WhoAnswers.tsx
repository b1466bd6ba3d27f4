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
      {channel === undefined || view === null ? (
        "\u00a0"
      ) : (
        <Said view={view} channel={channel} written={text.trim() !== ""} />
      )}
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

interface SaidProps {
  view: PreviewView;
  channel: Channel;
  /** Before there is a word to send, that nobody would answer it is a hint and no warning. */
  written: boolean;
}

function Said({ view, channel, written }: SaidProps): JSX.Element {
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
        <span class={written ? "who-problem" : undefined}>{problemText(problem)}</span>
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
      const where = other === undefined ? waitsFor.channel : nameOf(other);
      said.push(
        waitsFor.agent === one.agent
          ? t("who.waits", { channel: where })
          : t("who.after", { agent: titleOf(waitsFor.agent), channel: where }),
      );
    }
  }
  if (said.length === 0) return null;
  return <span class={problem === undefined ? undefined : "who-problem"}> ({said.join(", ")})</span>;
}
