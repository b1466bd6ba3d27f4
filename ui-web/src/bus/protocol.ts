// What the page and the gateway say to each other over the WebSocket. Shapes only.
import type { Cursor, Envelope, Problem, PublicEvent } from "./schema.gen";

export const PROTOCOL = 1;

/** In bytes. Over a bigger one the gateway closes the socket. */
export const LARGEST_FRAME = 1_000_000;

/** One event with its place in the log, as the page is sent it. */
export type PageEvent = Envelope<PublicEvent>;

export type Wanted = "public" | "delta" | "log" | "result" | "internal";

export type ClientFrame =
  | { t: "hello"; v: number; token: string; resume: Cursor | null; want: readonly Wanted[] }
  | {
      t: "call";
      id: number;
      name: string;
      args: Readonly<Record<string, unknown>>;
      command?: string;
      after?: number;
    }
  | { t: "ping"; id: number };

export interface Welcome {
  t: "welcome";
  v: number;
  epoch: number;
  seq: number;
  resumed: boolean;
  version: string;
  instance: string;
  config: string;
}

export type ResultFrame =
  | { t: "result"; id: number; ok: true; value: unknown; asOf?: Cursor; seq?: number }
  | { t: "result"; id: number; ok: false; problem: Problem };

export type ServerFrame =
  | Welcome
  | { t: "ev"; epoch: number; e: readonly PageEvent[] }
  | { t: "at"; seq: number }
  | { t: "resync"; epoch: number; seq: number }
  | ResultFrame
  | { t: "pong"; id: number; seq: number };

/** Why the gateway closed the socket, where it says so. */
export const CLOSED = { badToken: 4401, version: 4409, slow: 1013, restarting: 1012 } as const;
