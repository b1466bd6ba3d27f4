// One message that was found: where, by whom, when, and the words around the place.
import type { JSX } from "preact";
import type { Hit } from "../bus/schema.gen";
import { isKey, t } from "../i18n/translate";
import { channels, nameOf, titleOf } from "../shell/app";
import { clock, dayName, moment, now } from "../shell/format";
import { go } from "../shell/route";
import { piecesOf, plainly } from "./asked";
import { lookedFor } from "./marks";

export function HitRow({ hit, text }: { hit: Hit; text: string }): JSX.Element {
  const channel = channels.value.find(({ id }) => id === hit.channel);
  const where = channel === undefined ? hit.channel : nameOf(channel);
  const who = hit.role === "user" ? t("message.you") : titleOf(hit.agent);
  const kind = `search.in.${hit.kind}`;
  return (
    <li>
      <button
        type="button"
        class="hit"
        onClick={() => {
          lookedFor(text);
          go(hit.channel, hit.messageId);
        }}
      >
        <span class="hit-head">
          <strong>{where}</strong>
          {who !== where && <span>{who}</span>}
          {isKey(kind) && <span class="chip">{t(kind)}</span>}
          <time dateTime={new Date(hit.createdAt).toISOString()} title={moment(hit.createdAt)}>
            {dayName(hit.createdAt, now.value)}, {clock(hit.createdAt)}
          </time>
        </span>
        <span class={hit.kind === "tool" ? "hit-text hit-tool" : "hit-text"} dir="auto">
          {plainly(piecesOf(hit.excerpt, hit.spans), hit.kind).map((piece, index) =>
            piece.found ? <mark key={index}>{piece.text}</mark> : piece.text,
          )}
        </span>
      </button>
    </li>
  );
}
