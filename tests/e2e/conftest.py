"""A real browser on a real server: sign-in by session cookie, real mp4 files, no console errors, axe-core."""

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from axe_playwright_python.base import AXE_SCRIPT, AxeResults
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.test import Client
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect
from playwright.sync_api import Error as BrowserError

from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.media.clock import even_clock
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import Project, User
from tests.e2e.tabs import NARROW, PATIENCE_MS, WIDE, Tabs
from tests.factories import make_project, make_subtest, make_video
from tests.waiting import PATIENCE_SECONDS

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Nothing but the test's own server: a page that asks anybody else fails.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1",
)

OpenTab = SignIn = Callable[..., Page]
# The pages of an installation that shares our database, queue and store (tests/foilworks/test_topology.py).
SITE = os.environ.get("FOILWORKS_TEST_SITE", "")
CAPTION = "a red dot moves to the right."
# A walk at 360 px differs from one at 1280 px in its layout only, and each page is checked in both widths as well.
IN_BOTH_WIDTHS = pytest.mark.parametrize(
    "narrow", [False, pytest.param(True, marks=pytest.mark.full)], ids=["wide", "narrow"]
)
# A card whose clip can be played, in sight for long enough to be decided (static/annotation/work.js).
WORK = "main:not([data-new]) [data-player][data-ready]"
# Five seconds else, in which a machine that has more to do has not always answered; what is there is seen at once.
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The Chromium that `make test` found, else the system's, else playwright's own."""
    path = settings.FOILWORKS_CHROMIUM or shutil.which("chromium-headless-shell") or shutil.which("chromium")
    return {**browser_type_launch_args, "args": list(FLAGS), **({"executable_path": path} if path else {})}


@pytest.fixture(scope="session")
def tabs(browser: Browser, live_server: Any) -> Tabs:
    return Tabs(browser, SITE or live_server.url)


HANDS = ("click", "fill", "press", "press_sequentially", "check", "uncheck", "select_option", "set_input_files")


@pytest.fixture(autouse=True, scope="session")
def hands_wait_for_the_page() -> Iterator[None]:
    """A key or a click on a page that is still loading reaches no script: people and tests wait until it is there."""
    keyboard = Page.keyboard

    def loaded(page: Page) -> Any:
        page.wait_for_load_state()
        return keyboard.fget(page)

    def waits(name: str) -> Callable[..., Any]:
        act = getattr(Locator, name)

        def acts(locator: Locator, *args: Any, **kwargs: Any) -> Any:
            locator.page.wait_for_load_state()
            return act(locator, *args, **kwargs)

        return acts

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Page, "keyboard", property(loaded))
        for name in HANDS:
            patch.setattr(Locator, name, waits(name))
        yield


# What htmx logs of a request that ends because its page is left. Of one that fails, the browser logs more than this.
LEFT_WHILE_WAITING = ("htmx:afterRequest", "htmx:sendAbort", "htmx:sendError")


@pytest.fixture
def open_tab(tabs: Tabs) -> Iterator[OpenTab]:
    """`open_tab(narrow=False)`: a tab of somebody unknown, in a browser of their own. What is asked of the
    browser itself (`java_script_enabled=False`) or left in the tab for good (`alone=True`) needs one for this test.

    At the end of the test no page may have logged an error or thrown one, but for those that hold `expected` words.
    """
    pages: list[tuple[Page, bool]] = []
    complaints: list[str] = []
    awaited: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not message.text.startswith(LEFT_WHILE_WAITING):
            complaints.append(f"{message.type}: {message.text} ({message.location})")

    def thrown(error: BrowserError) -> None:
        complaints.append(f"thrown: {error}")

    def opened(*, narrow: bool = False, expected: Sequence[str] = (), alone: bool = False, **context_args: Any) -> Page:
        awaited.extend(expected)
        size, alone = NARROW if narrow else WIDE, alone or bool(context_args)
        page = tabs.new(size, **context_args) if alone else tabs.take(size)
        pages.append((page, alone))
        page.on("console", heard)
        page.on("pageerror", thrown)
        return page

    yield opened
    for page, alone in pages:
        # What was said before this answer has been heard.
        page.context.cookies()
        page.remove_listener("console", heard)
        page.remove_listener("pageerror", thrown)
        if alone:
            page.context.close()
        else:
            tabs.give_back(page)
    assert [line for line in complaints if not any(words in line for words in awaited)] == []


@pytest.fixture
def sign_in(open_tab: OpenTab, tabs: Tabs) -> SignIn:
    """`sign_in(person, narrow=False)`: a tab as `open_tab` gives it, signed in as the person."""

    def sign_in(person: User, **wishes: Any) -> Page:
        client, page = Client(), open_tab(**wishes)
        client.force_login(person)
        cookie = client.cookies[settings.SESSION_COOKIE_NAME]
        page.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": tabs.site}])
        return page

    return sign_in


def film(project: Project, frames: Sequence[np.ndarray], fps: float, **fields: Any) -> Video:
    """A video row with a real H.264 file of these frames."""
    return with_film(make_video(project, **fields), frames, fps, **fields)


def with_film(video: Video, frames: Sequence[np.ndarray], fps: float, **fields: Any) -> Video:
    """The same row with a real H.264 file of these frames."""
    height, width = frames[0].shape[:2]
    facts = {"fps": fps, "n_frames": len(frames), "duration": len(frames) / fps, "width": width, "height": height}
    facts["frame_times"] = even_clock(len(frames), fps).packed()
    for name, value in {**facts, "media_state": MediaState.READY, **fields}.items():
        setattr(video, name, value)
    path = Path(settings.MEDIA_ROOT) / "made.mp4"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_mp4(path, frames, fps)
    video.file.save(f"{video.pk}.mp4", ContentFile(path.read_bytes()))
    return video


def moving_dot(n: int = 24, side: int = 64) -> list[np.ndarray]:
    """A dot that crosses a light field from left to right."""
    frames = []
    for index in range(n):
        picture = np.full((side, side, 3), 230, np.uint8)
        x = 4 + round(index * (side - 16) / max(1, n - 1))
        picture[side // 2 - 4 : side // 2 + 4, x : x + 8] = (200, 40, 40)
        frames.append(picture)
    return frames


def wait_for(page: Page, condition: Callable[[], object], log: Callable[[], object] = str) -> None:
    """Run the page until the condition is true; with `tests.waiting`, its own events would not be handled."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, log()
        page.wait_for_timeout(20)


def wait_until(page: Page, expression: str) -> None:
    """Ask the page until the JavaScript `expression` is true.

    Playwright's own wait_for_function asks again from inside the page, by eval, which our pages' CSP forbids.
    """
    wait_for(page, lambda: page.evaluate(expression), lambda: f"never true: {expression}")


STANDS_STILL = """document.getAnimations().every(
    (one) => one.playState !== "running" || one.effect.getComputedTiming().endTime === Infinity)"""


# Impacts are the rules': one that is minor or moderate could report nothing that counts here, so it is not asked.
ASK_AXE = """async () => {
  const lesser = axe._audit.rules.filter((rule) => ["minor", "moderate"].includes(rule.impact));
  const rules = Object.fromEntries(lesser.map((rule) => [rule.id, { enabled: false }]));
  const { violations } = await axe.run({ resultTypes: ["violations"], rules });
  return { violations, asked: axe._audit.rules.length - lesser.length };
}"""


def assert_accessible(page: Page) -> None:
    """No violation that axe-core calls serious or critical, and no sideways scrolling of the page."""
    # What is still fading in has the colours of neither its beginning nor its end.
    wait_until(page, STANDS_STILL)
    _picture(page)
    if page.evaluate("!window.axe"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(ASK_AXE)
    bad = [rule["id"] for rule in found["violations"] if rule["impact"] in {"serious", "critical"}]
    assert bad == [], AxeResults(found).generate_report()
    assert found["asked"] > 60
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert overflow <= 0, f"the page is {overflow} px wider than its window"


def _picture(page: Page) -> None:
    """For whoever looks at the pages: of each that is asked about, where FOILWORKS_SHOTS names a folder."""
    if folder := os.environ.get("FOILWORKS_SHOTS"):
        name = re.sub(r"[^a-z0-9]+", "-", urlsplit(page.url).path).strip("-")
        width = (page.viewport_size or WIDE)["width"]
        page.screenshot(path=Path(folder) / f"{name or 'home'}-{width}-{time.time_ns()}.png", full_page=True)


def assert_accessible_wide_and_narrow(page: Page) -> None:
    """The same in both widths; the page is loaded once and left as wide as it was."""
    found = page.viewport_size
    for size in (WIDE, NARROW) if found == WIDE else (NARROW, WIDE):
        page.set_viewport_size(size)
        assert_accessible(page)
    page.set_viewport_size(found or WIDE)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A real mp4 imported with its caption, and one run whose foil waits for an annotator."""
    project = make_project(slug="dots", name="Dots")
    make_subtest(project, name="direction")
    write_mp4(tmp_path / "dot.mp4", moving_dot(), 12.0)
    records = tmp_path / "direction.jsonl"
    records.write_text(json.dumps({"id": "dot", "video": "dot.mp4", "caption": CAPTION}) + "\n", encoding="utf-8")
    call_command("import", "jsonl", str(records), "--project", "dots", "--media", str(tmp_path))
    opposites = "pairs=to the right:to the left"
    # One caption has no opposite to be drawn with.
    filters = ("--filters", "identical,duplicate,minimal_edit")
    call_command("generate", "--project", "dots", "--method", "preposition", "--set", opposites, *filters, "--sync")
    return project
