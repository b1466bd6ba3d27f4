// Messages in a row: days between them, what one author said in one go together.
import type { JSX } from "preact";
import type { ConversationState } from "../bus/conversation";
import type { Message } from "../bus/schema.gen";
import { language, t } from "../i18n/translate";
import { asked, NONE, over, permissions } from "../shell/app";
import { dayName, dayOf, now } from "../shell/format";
import { MessageRow } from "./Message";

/** Messages of one author within this time stand together. */
const TOGETHER = 300_000;

interface RowsProps {
  rows: readonly Message[];
  state: ConversationState;
  /** The first that was new when the reader came; it stays marked until he leaves. */
  unread: string | null;
}

export function Rows({ rows, state, unread }: RowsProps): JSX.Element {
  const today = dayOf(now.value);
  const channel = rows[0]?.channel;
  const count = permissions.value.filter((one) => one.channel === channel).length;
  let before = 0;
  return (
    <>
      {rows.map((message, index) => {
        const last = rows[index - 1];
        const day = last === undefined || dayOf(last.createdAt) !== dayOf(message.createdAt);
        const requests = asked.value.get(message.id) ?? NONE;
        const row = (
          <MessageRow
            key={message.id}
            message={message}
            joined={!day && message.id !== unread && last !== undefined && together(last, message)}
            times={state.times[message.id]}
            asked={requests}
            over={over.value.get(message.id) ?? NONE}
            count={requests.length === 0 ? 0 : count}
            before={requests.length === 0 ? 0 : before}
            language={language.value}
          />
        );
        before += requests.length;
        return [
          day && <DayLine key={`day ${message.id}`} at={message.createdAt} today={today} />,
          message.id === unread && <NewLine key="new" />,
          row,
        ];
      })}
    </>
  );
}

function DayLine({ at, today }: { at: number; today: number }): JSX.Element {
  return (
    <div class="day">
      <span>{dayName(at, today)}</span>
    </div>
  );
}

function NewLine(): JSX.Element {
  return (
    <div class="day day-new" role="separator">
      <span>{t("channel.newLine")}</span>
    </div>
  );
}

function together(one: Message, other: Message): boolean {
  return (
    one.role !== "system" &&
    one.role === other.role &&
    one.agent === other.agent &&
    other.createdAt - one.createdAt < TOGETHER
  );
}
