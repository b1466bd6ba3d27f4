// One event, or a run of deltas, in a line that opens its JSON.
import { Component as Base, type JSX } from "preact";
import { t } from "../i18n/translate";
import { channels } from "../shell/app";
import { lineOf, type Row } from "./events";
import { pause } from "./stream";
import { place, summary } from "./summary";

/** Of a run so many are shown as JSON; all of them are in the export. */
const OPENED = 20;

interface Props {
  row: Row;
}

/** Drawn again only when its run has grown. */
export class EventRow extends Base<Props, { open: boolean }> {
  override state = { open: false };

  override shouldComponentUpdate(next: Props, state: { open: boolean }): boolean {
    return next.row !== this.props.row || state.open !== this.state.open;
  }

  render({ row }: Props, { open }: { open: boolean }): JSX.Element {
    const { event, run, gap } = row;
    if (gap !== null) return <li class="bus-gap">{gap}</li>;
    const toggle = (): void => {
      if (!open) pause();
      this.setState({ open: !open });
    };
    return (
      <li>
        <button type="button" class="event" aria-expanded={open} onClick={toggle}>
          <span class="event-seq">{event.seq}</span>
          <span class="event-time">{time(event.ts)}</span>
          <span class="event-type">
            {event.type}
            {run.length > 1 ? ` ×${run.length}` : ""}
          </span>
          <span class="event-place">{place(event, channelName)}</span>
          <span class="event-summary">{summary(row)}</span>
        </button>
        {open && (
          <pre
            class="event-json"
            tabIndex={0}
            aria-label={t("bus.json")}
            ref={(element) => element?.scrollIntoView({ block: "nearest" })}
          >
            {run.length === 1 ? JSON.stringify(event, null, 2) : opened(row)}
          </pre>
        )}
      </li>
    );
  }
}

function opened({ run }: Row): string {
  const lines = run.slice(0, OPENED).map(lineOf);
  const more = run.length - lines.length;
  return more > 0 ? `${lines.join("\n")}\n… +${more}` : lines.join("\n");
}

function channelName(id: string): string {
  const channel = channels.peek().find((one) => one.id === id);
  if (channel === undefined) return id;
  return channel.direct === "" ? `#${channel.name}` : `@${channel.direct}`;
}

/** The time of day with its milliseconds, as logs have it in any language. */
function time(at: number): string {
  const date = new Date(at);
  const two = (number: number): string => String(number).padStart(2, "0");
  const ms = String(date.getMilliseconds()).padStart(3, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`;
}
