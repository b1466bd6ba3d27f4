"""The page in a real Chromium: ``python -m tests.bench.page [--deltas N]``. Prints one JSON object.

The page is the built one, under its own policy; its socket is answered from here, so that what is
measured is the page and nothing else: how soon a conversation of 100 messages is there, and what
20,000 deltas at 200 a second do to a page that holds 2,000 messages. The answer is Markdown with
code, lists and tables. At the end its HTML is held against that of a page that got it at once.
"""

import argparse
import asyncio
import gzip
import json
import shutil
import sys
import threading
import time
from typing import Any

import uvicorn
from playwright.sync_api import Browser, Page, expect, sync_playwright
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from sk_bus.codec import plain
from sk_bus.events import MessageDelta, MessageUpdated, TurnChanged
from sk_bus.ids import channel_id, message_id
from sk_bus.model import AgentName, AgentState, AgentView, Channel, Message, Role, TextPart
from sk_bus.queries import ConversationView, CurrentConfig
from sk_bus.queries import Page as Window
from sk_gateway.guard import HEADERS
from sk_gateway.static import DIRECTORY, Pages
from tests.e2e.conftest import FLAGS, NAMES

RATE = 200
OLDER = 2_000
SHOWN = 100
CHANNEL = channel_id(1)
LIVE = message_id(OLDER + 2)
NOW = 1_700_000_000_000

# A piece of an answer: what agents write, 800 characters of it.
PIECE = """\
## A heading of part {n}

Some words that are **strong**, some `code`, and a [link](https://example.org/{n}) in a
paragraph that goes on for a while, as answers do, so that it wraps on the screen.

- first, with *emphasis*
- second
  1. deeper
  2. and deeper

```python
def part_{n}(text: str) -> str:
    \"\"\"Whatever it is.\"\"\"
    return text.upper() if text else "{n}"
```

| name | value |
| --- | ---: |
| part | {n} |

> A quotation, at the end.

"""

_WATCH = """
window.seen = {frames: [], tasks: [], most: 0};
const watch = (before) => requestAnimationFrame((now) => {
    if (before !== null) window.seen.frames.push(now - before);
    watch(now);
});
watch(null);
new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.seen.tasks.push(entry.duration);
}).observe({type: "longtask"});
setInterval(() => {
    const count = document.querySelectorAll("[data-message]").length;
    window.seen.most = Math.max(window.seen.most, count);
}, 200);
"""


def answer(deltas: int) -> str:
    """A text of four characters a delta."""
    text = "".join(PIECE.replace("{n}", str(n)) for n in range(deltas * 4 // 500 + 1))
    return text[: deltas * 4]


class House:
    """What a gateway would know: a conversation, and an answer that grows in it."""

    def __init__(self, deltas: int) -> None:
        self.deltas = deltas
        self.text = answer(deltas)
        self.streams = False
        self.older = OLDER

    def result(self, name: str) -> Any:
        """The answer to a query; ``None`` where the page can do without."""
        match name:
            case "ListAgents":
                return [ALICE]
            case "ListChannels":
                return [BENCH]
            case "Components" | "Permissions" | "Commands":
                return []
            case "Current":
                return CONFIG
            case "Conversation":
                said = [_said(n, f"Message {n}, with some words.") for n in range(self.older)]
                last = [] if self.older < OLDER else [self.live(done=not self.streams)]
                return ConversationView(
                    channel=BENCH, messages=(*said, *last), more=False, busy=self.streams
                )
            case "Newer" | "Older":
                return Window(messages=(), more=False)
            case _:
                return None

    def live(self, *, done: bool) -> Message:
        """The answer: empty while it is to come, or whole."""
        return Message(
            id=LIVE,
            channel=CHANNEL,
            createdAt=NOW + OLDER * 400_000,
            role=Role.AGENT,
            agent=ALICE.name,
            parts=(TextPart(text=self.text),) if done else (),
            done=done,
            rev=self.deltas if done else 0,
        )

    async def tell(self, socket: WebSocket) -> None:
        """Stream the answer at its rate; what falls behind is caught up with."""
        began = time.monotonic()
        for n in range(self.deltas):
            text = self.text[4 * n : 4 * n + 4]
            delta = MessageDelta(
                channel=CHANNEL, messageId=LIVE, index=0, kind="text", text=text, rev=n + 1
            )
            await _event(socket, 101 + n, delta)
            await asyncio.sleep(began + (n + 1) / RATE - time.monotonic())
        done = MessageUpdated(channel=CHANNEL, message=self.live(done=True))
        await _event(socket, 101 + self.deltas, done)
        over = TurnChanged(channel=CHANNEL, busy=False, queued=0)
        await _event(socket, 102 + self.deltas, over)


async def _event(
    socket: WebSocket, seq: int, event: MessageDelta | MessageUpdated | TurnChanged
) -> None:
    data = plain(event)
    made = {"seq": seq, "ts": NOW + seq, "type": data.pop("type"), "data": data}
    await socket.send_text(json.dumps({"t": "ev", "epoch": 1, "e": [made]}))


ALICE = AgentView(name=AgentName("alice"), title="Alice", state=AgentState.READY)
BENCH = Channel(id=CHANNEL, name="bench", members=(ALICE.name,))
CONFIG = CurrentConfig(
    path="/bench.yaml",
    source="default",
    created=False,
    valid=True,
    problems=(),
    warnings=(),
    theme="light",
    language="en",
)


def _said(number: int, text: str) -> Message:
    return Message(
        id=message_id(number + 1),
        channel=CHANNEL,
        createdAt=NOW + number * 400_000,
        role=Role.USER,
        parts=(TextPart(text=text),),
    )


def application(house: House) -> Starlette:
    """The page and its socket, under the headers of the real gateway."""
    pages = Pages(DIRECTORY)

    async def page(request: Request) -> Response:
        file = pages.file(request.url.path, packed=True)
        return Response(file.body, file.status, {**dict(file.headers), **dict(HEADERS)})

    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()
        telling: asyncio.Task[None] | None = None
        try:
            while True:
                frame = json.loads(await websocket.receive_text())
                match frame:
                    case {"t": "hello"}:
                        await websocket.send_text(json.dumps(_WELCOME))
                    case {"t": "ping", "id": id_}:
                        await websocket.send_text(json.dumps({"t": "pong", "id": id_, "seq": 100}))
                    case {"t": "call", "id": id_, "name": name}:
                        await websocket.send_text(json.dumps(_result(house, id_, name)))
                        if name == "Conversation" and house.streams and telling is None:
                            telling = asyncio.create_task(house.tell(websocket))
        except WebSocketDisconnect:
            if telling is not None:
                telling.cancel()

    return Starlette(routes=[WebSocketRoute("/ws", socket), Route("/{path:path}", page)])


_WELCOME = {
    "t": "welcome",
    "v": 1,
    "epoch": 1,
    "seq": 100,
    "resumed": False,
    "version": "bench",
    "instance": "bench",
    "config": "/bench.yaml",
}


def _result(house: House, id_: int, name: str) -> dict[str, Any]:
    value = house.result(name)
    if value is None:
        problem = {"id": "bench", "message": "not here", "params": {}, "warning": False}
        return {"t": "result", "id": id_, "ok": False, "problem": problem}
    as_of = {"epoch": 1, "seq": 100}
    return {"t": "result", "id": id_, "ok": True, "value": plain(value), "asOf": as_of}


# --- measuring --------------------------------------------------------------------------------


def first_load() -> int:
    """Bytes of JavaScript that index.html names, packed."""
    index = (DIRECTORY / "index.html").read_text()
    files = [path for path in (DIRECTORY / "assets").glob("*.js") if path.name in index]
    return sum(len(gzip.compress(path.read_bytes(), mtime=0)) for path in files)


def _opened(browser: Browser, address: str, script: str = "") -> Page:
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    page.set_default_timeout(60_000)
    page.on("pageerror", lambda error: print(error, file=sys.stderr))
    if script:
        page.add_init_script(script)
    page.goto(f"{address}/#t=bench&c={CHANNEL}")
    return page


def ready(browser: Browser, address: str) -> float:
    """Milliseconds from the navigation until 100 messages and the composer are on the screen."""
    script = f"""
    const look = () => {{
        const count = document.querySelectorAll("[data-message]").length;
        const field = document.querySelector(".composer-field");
        if (count >= {SHOWN} && field !== null) window.ready = performance.now();
        else requestAnimationFrame(look);
    }};
    look();
    """
    page = _opened(browser, address, script)
    page.wait_for_function("() => window.ready !== undefined")
    taken = float(page.evaluate("window.ready"))
    page.close()
    return taken


def bare(browser: Browser, address: str) -> float:
    """The same for a page of ours without any script: what the browser itself takes."""
    page = browser.new_page()
    page.goto(f"{address}/favicon.svg")
    taken = float(page.evaluate("performance.getEntriesByType('navigation')[0].duration"))
    page.close()
    return taken


def still(browser: Browser, address: str) -> dict[str, Any]:
    """Frames of a page in which nothing happens: what this machine itself drops."""
    page = _opened(browser, address, _WATCH)
    expect(page.locator("[data-message]").first).to_be_visible()
    page.evaluate("window.seen.frames.length = 0")
    page.evaluate("new Promise(done => setTimeout(done, 5000))")
    seen = page.evaluate("window.seen")
    page.close()
    return _frames(seen["frames"])


def streamed(browser: Browser, address: str, house: House) -> tuple[dict[str, Any], str]:
    house.streams = True
    page = _opened(browser, address, _WATCH)
    live = page.locator(f'[data-message="{LIVE}"]')
    expect(live).to_contain_text("A heading of part 0", timeout=60_000)
    page.evaluate("Object.assign(window.seen, {frames: [], tasks: []})")
    expect(page.locator(".turn")).to_have_count(0, timeout=1000 * (60 + 2 * house.deltas / RATE))
    expect(live.locator("[aria-busy=true]")).to_have_count(0)
    return page.evaluate("window.seen"), live.inner_html()


def _frames(gaps: list[float]) -> dict[str, Any]:
    gaps = sorted(gaps)
    frame = 1000 / 60
    dropped = sum(max(0, round(gap / frame) - 1) for gap in gaps)
    return {
        "dropped_percent": round(100 * dropped / max(1, dropped + len(gaps)), 2),
        "p99_ms": round(gaps[int(0.99 * (len(gaps) - 1))], 1),
        "worst_ms": round(gaps[-1], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deltas", type=int, default=20_000)
    asked = parser.parse_args()
    house = House(asked.deltas)
    with serving(application(house)) as address, sync_playwright() as started:
        found = next((path for name in NAMES if (path := shutil.which(name))), None)
        browser = started.chromium.launch(executable_path=found, args=list(FLAGS))
        house.older = SHOWN
        readies = sorted(ready(browser, address) for _ in range(5))
        idle, plain = still(browser, address), bare(browser, address)
        house.older = OLDER
        seen, html = streamed(browser, address, house)
        house.streams = False
        page = _opened(browser, address)
        whole = page.locator(f'[data-message="{LIVE}"]')
        # The colours of code come in a chunk of their own.
        expect(whole.locator(".hljs-keyword").last).to_be_attached()
        same = whole.inner_html() == html
        browser.close()
    print(
        json.dumps(
            {
                "first_load_bytes": first_load(),
                "ready_ms": round(readies[2]),
                "ready_worst_ms": round(readies[-1]),
                "bare_ms": round(plain),
                "idle": idle,
                "streamed": _frames(seen["frames"]),
                "longest_task_ms": round(max(seen["tasks"], default=0)),
                "most_messages_in_dom": seen["most"],
                "same_html": same,
                "deltas": asked.deltas,
            }
        )
    )


class serving:  # noqa: N801  reads as what it does
    """An application on a port of its own, for as long as the block runs."""

    def __init__(self, app: Starlette) -> None:
        config = uvicorn.Config(app, port=0, log_level="warning", ws="websockets-sansio")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def __enter__(self) -> str:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(10)


if __name__ == "__main__":
    main()
