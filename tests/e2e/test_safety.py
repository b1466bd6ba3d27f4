"""What must not happen: script from an answer, requests to others, other pages on our socket."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.screen import PATIENCE, Screen
from tests.support.instance import TestInstance

pytestmark = [pytest.mark.process, pytest.mark.browser]

# The demo agent quotes what it doesn't understand, so each of these arrives as its answer, too.
PAYLOADS = (
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<iframe srcdoc='<script>parent.alert(1)</script>'></iframe>",
    "<script>alert(1)</script>",
    "[click](javascript:alert(1))",
    "[click](data:text/html,<script>alert(1)</script>)",
    "[click](vbscript:alert(1))",
    "![pixel](http://evil.test/pixel.png)",
    "<a href='java&#115;cript:alert(1)'>x</a>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<style>@import 'http://evil.test/a.css';</style>",
    "<form action='http://evil.test/'><input name=a></form>",
    "[ref]: http://evil.test 'x\" onmouseover=alert(1)'",
    "`<b>` <!-- --><base href='http://evil.test/'>",
)


def test_nothing_in_an_answer_runs_or_calls_out(screen: Screen) -> None:
    called: list[str] = []
    shown: list[str] = []
    screen.page.on("dialog", lambda dialog: (shown.append(dialog.message), dialog.dismiss()))
    screen.page.on("request", lambda request: called.append(request.url))
    screen.talk_to("Demo")
    screen.send("help")
    screen.await_end()
    for first in range(0, len(PAYLOADS), 6):  # it quotes six lines
        screen.send("\n".join(PAYLOADS[first : first + 6]))
        screen.await_end()
        expect(screen.last).to_contain_text("You wrote", timeout=PATIENCE)
    assert shown == []
    ours = (screen.instance.address, screen.instance.address.replace("http", "ws"), "data:")
    assert [url for url in called if not url.startswith(ours)] == []
    log = screen.log
    assert log.locator("script, iframe, form, base, style, object, embed").count() == 0
    hrefs = log.locator("a").evaluate_all("links => links.map(link => link.protocol)")
    assert set(hrefs) <= {"http:", "https:", "mailto:"}


class _Foreign(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>another page</title>")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def foreign() -> Iterator[str]:
    """Another page on this machine. A browser may open connections on which it says nothing."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Foreign) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_another_page_gets_no_socket_and_no_answer(
    page: Page, instance: TestInstance, foreign: str
) -> None:
    page.goto(foreign)
    opened = page.evaluate(
        """address => new Promise(done => {
            const socket = new WebSocket(address);
            socket.onopen = () => done("opened");
            socket.onclose = event => done(event.code);
        })""",
        f"ws://127.0.0.1:{instance.port}/ws",
    )
    assert opened == 1006
    read = page.evaluate(
        """address => fetch(address, {headers: {}}).then(r => r.text(), error => "refused")""",
        f"{instance.address}/events",
    )
    assert read == "refused"


def test_another_page_can_not_frame_ours(page: Page, instance: TestInstance, foreign: str) -> None:
    page.goto(foreign)
    page.set_content(f'<iframe src="{instance.address}/"></iframe>')
    frame = page.frames[-1]
    frame.wait_for_load_state()
    assert frame.evaluate("document.body?.innerText ?? ''").find("Sidekicks") == -1
