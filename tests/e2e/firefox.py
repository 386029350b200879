"""The system's Firefox, driven over WebDriver BiDi: Playwright's own is a patched build that plays other codecs.

A tab has the few methods of Playwright's `Page` that the video matrix calls, with the same names and arguments.
"""

import base64
import itertools
import json
import queue
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urljoin, urlsplit

INSTALL = "Firefox is not installed; on Debian and Ubuntu, run: apt install firefox-esr"
NO_CLIENT = "the Python package websockets is not installed; run: make install"
STARTS_WITHIN_S, ANSWERS_WITHIN_S = 60, 60
# Between two looks at a page that is waited for.
PAUSE_S = 0.01
_ADDRESS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
# Keys that type nothing, as WebDriver numbers them.
KEYS = {"Control": "\ue009", "Enter": "\ue007"}
VISIBLE = "(selector) => Boolean(document.querySelector(selector)?.checkVisibility())"


class FirefoxMissing(Exception):
    """Says in one line what to install."""


class FirefoxError(Exception):
    """The browser rejected a command, or a script in the page threw."""


class FirefoxTab:
    """One tab. `complaints`: errors and warnings that its pages logged or threw."""

    def __init__(self, socket: Any, site: str) -> None:
        self.socket, self.site = socket, site
        self.numbers = itertools.count(1)
        self.complaints: list[str] = []
        self.version = self.send("session.new", capabilities={})["capabilities"]["browserVersion"]
        self.send("session.subscribe", events=["log.entryAdded"])
        self.context = self.send("browsingContext.getTree")["contexts"][0]["context"]
        self.send("browsingContext.setViewport", context=self.context, viewport={"width": 1280, "height": 800})

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result. FirefoxError: it failed. TimeoutError: no answer."""
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.recv(timeout=ANSWERS_WITHIN_S))
            if message.get("method") == "log.entryAdded":
                self._hear(message["params"])
            if message.get("id") != number:
                continue
            if message["type"] == "error":
                raise FirefoxError(f"{method}: {message['error']}: {message['message']}")
            return message["result"]

    def _hear(self, entry: dict[str, Any]) -> None:
        if entry["level"] in {"error", "warn"}:
            self.complaints.append(f"{entry['level']}: {entry['text']}")

    def goto(self, path: str) -> None:
        """Load a page of the site, until all that it names is loaded."""
        self.send("browsingContext.navigate", context=self.context, url=urljoin(self.site, path), wait="complete")

    def evaluate(self, function: str, argument: object = None) -> Any:
        """Call a JavaScript function in the page and return what it returns, or resolves to, by way of JSON."""
        called = f"async (one) => JSON.stringify(await ({function})(JSON.parse(one)) ?? null)"
        answer = self.send(
            "script.callFunction",
            functionDeclaration=called,
            arguments=[{"type": "string", "value": json.dumps(argument)}],
            awaitPromise=True,
            target={"context": self.context},
        )
        if answer["type"] == "exception":
            raise FirefoxError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def wait_for_selector(self, selector: str, *, timeout: float) -> None:
        """Wait until an element is visible; `timeout` in milliseconds. TimeoutError: it never was."""
        until = time.monotonic() + timeout / 1000
        while not self.evaluate(VISIBLE, selector):
            if time.monotonic() > until:
                raise TimeoutError(selector)
            time.sleep(PAUSE_S)

    def press(self, selector: str, key: str) -> None:
        """Focus the element and press a key or a chord such as Control+Enter; the events are trusted."""
        self.evaluate("(selector) => document.querySelector(selector).focus()", selector)
        self.press_focused(key)

    def press_focused(self, key: str) -> None:
        """Press a key or a chord wherever the focus is."""
        held = [KEYS.get(name, name) for name in (key.split("+") if len(key) > 1 else [key])]
        keys = [{"type": "keyDown", "value": name} for name in held]
        keys += [{"type": "keyUp", "value": name} for name in reversed(held)]
        actions = [{"type": "key", "id": "keyboard", "actions": keys}]
        self.send("input.performActions", context=self.context, actions=actions)

    def screenshot(self, *, clip: Any) -> bytes:
        """A PNG of a part of the window; `clip` has x, y, width and height in CSS pixels."""
        box = {"type": "box", **clip}
        return base64.b64decode(self.send("browsingContext.captureScreenshot", context=self.context, clip=box)["data"])

    def add_init_script(self, script: str) -> None:
        """Run a script in each page before the page's own."""
        self.send("script.addPreloadScript", functionDeclaration=f"() => {{ {script} }}", contexts=[self.context])

    def add_cookie(self, name: str, value: str) -> None:
        """Set a cookie of the site."""
        cookie = {
            "name": name,
            "value": {"type": "string", "value": value},
            "domain": urlsplit(self.site).hostname,
            "httpOnly": True,
        }
        self.send("storage.setCookie", cookie=cookie)


@contextmanager
def firefox(site: str) -> Iterator[FirefoxTab]:
    """A tab of a Firefox with a profile of its own, without a window, for as long as the block runs.

    FirefoxMissing: it cannot start here.
    """
    try:
        from websockets.sync.client import connect
    except ImportError as error:
        raise FirefoxMissing(NO_CLIENT) from error
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        raise FirefoxMissing(INSTALL)
    with tempfile.TemporaryDirectory(prefix="foilworks-firefox-", ignore_cleanup_errors=True) as profile:
        command = [program, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", profile]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            with connect(f"{_address(process)}/session", max_size=None) as socket:
                yield FirefoxTab(socket, site)
        finally:
            process.terminate()
            process.wait(20)


def _address(process: subprocess.Popen) -> str:
    """Where Firefox listens, from its own words; they are read to their end, so that it never waits for us."""
    found: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read, args=(process, found), daemon=True).start()
    try:
        address = found.get(timeout=STARTS_WITHIN_S)
    except queue.Empty:
        address = ""
    if not address:
        raise FirefoxMissing(f"Firefox does not start with a debugging port; {INSTALL}")
    return address


def _read(process: subprocess.Popen, found: queue.Queue[str]) -> None:
    assert process.stderr is not None
    with process.stderr:
        for line in process.stderr:
            if match := _ADDRESS.search(line):
                found.put(match.group(1))
    found.put("")
