// Where the page begins: connect, follow the configuration and the address, draw.
import { render } from "preact";
import "./design/tokens.css";
import "./design/base.css";
import "./shell/shell.css";
import "./channels/channels.css";
import "./channels/parts.css";
import "./agents/agents.css";
import "./monitor/monitor.css";
import "./markdown/markdown.css";
import { App } from "./shell/App";
import { followReading } from "./channels/unread";
import { outbox, store, token } from "./shell/app";
import { listenForKeys } from "./shell/keys";
import { followForNotices } from "./shell/notify";
import { followAddress } from "./shell/route";
import { followConfiguration } from "./shell/theme";
import { onToken, takeToken } from "./shell/token";

followConfiguration();
followAddress();
listenForKeys();
followReading();
followForNotices();

function come(next: string): void {
  token.value = next;
  store.reopen(next);
}
onToken(come);
addEventListener("hashchange", () => {
  const next = takeToken(location, history, localStorage);
  if (next !== null && next !== token.value) come(next);
});
addEventListener("online", () => store.connect());
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") store.connect();
});

if (token.value !== null) store.connect();
outbox.restore(Date.now());

const page = document.getElementById("page");
if (page === null) throw new Error("index.html has no #page");
render(<App />, page);
