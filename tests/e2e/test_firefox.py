"""The pages of work and of a video in the system's Firefox, by keyboard; see tests/e2e/every_odd_file.py for files.

.venv/bin/python -m pytest -m full tests/e2e/test_firefox.py
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from annotation.models import Edit, Vote
from foilworks.core.corpus.models import Foil, Item, Video
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.models import Project, User
from tests.e2e.conftest import CAPTION, WORK
from tests.e2e.firefox import FirefoxMissing, FirefoxTab, firefox
from tests.e2e.tabs import PATIENCE_MS
from tests.factories import make_member

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.machines, pytest.mark.slow(seconds=20)]

FOIL = "a red dot moves to the left."
TEXTS = "() => [...document.querySelectorAll('.pair .sentence')].map((one) => one.textContent.trim())"
ADDRESS = "() => location.href"
FOCUSED = "() => document.activeElement?.tagName"
SIZE = "() => { const video = document.querySelector('video'); return [video.videoWidth, video.currentTime >= 0]; }"


@pytest.fixture
def tab(live_server: Any) -> Iterator[FirefoxTab]:
    """Skipped without Firefox. At the end no page may have logged an error or a warning."""
    try:
        with firefox(live_server.url) as tab:
            yield tab
            tab.evaluate(ADDRESS)
            assert tab.complaints == []
    except FirefoxMissing as missing:
        pytest.skip(str(missing))


def sign_in(tab: FirefoxTab, person: User) -> None:
    client = Client()
    client.force_login(person)
    tab.add_cookie(settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value)


def wait_for(tab: FirefoxTab, script: str, fits: Callable[[Any], bool]) -> None:
    """Run the script in the page until its result fits. AssertionError: it never did."""
    until = time.monotonic() + PATIENCE_MS / 1000
    while not fits(found := tab.evaluate(script)):
        assert time.monotonic() < until, found
        time.sleep(0.05)


def start(tab: FirefoxTab, stage: str) -> None:
    """From the list of queues into the only one, by its key; then one frame on and back."""
    tab.goto("/projects/dots/work/")
    tab.press("body", "1")
    wait_for(tab, ADDRESS, lambda found: f"/work/{stage}/" in found)
    tab.wait_for_selector(WORK, timeout=PATIENCE_MS)
    steps(tab)


def steps(tab: FirefoxTab) -> None:
    """The clip may play by itself; a step pauses it."""
    tab.press("body", ".")
    tab.wait_for_selector('[data-player][data-state="paused"]:not([data-shown=""])', timeout=PATIENCE_MS)
    shown = "() => Number(document.querySelector('[data-player]').dataset.shown || -1)"
    before = tab.evaluate(shown)
    tab.press("body", ",")
    wait_for(tab, shown, lambda found: found == max(0, before - 1))
    assert tab.evaluate(SIZE) == [64, True]


def send(tab: FirefoxTab, *keys: str) -> None:
    """Press the keys; the last one sends, and an empty queue follows."""
    for key in keys:
        tab.press_focused(key)
    wait_for(tab, ADDRESS, lambda found: "?done=" in found)


def test_annotator_reviewer_and_validator_work_by_keyboard(project: Project, tab: FirefoxTab) -> None:
    sign_in(tab, make_member(project, "annotator", name="ann"))
    start(tab, "edit")
    tab.press_focused("e")
    wait_for(tab, FOCUSED, lambda found: found == "TEXTAREA")
    tab.press_focused("Control+a")
    for letter in FOIL:
        tab.press_focused(letter)
    send(tab, "Control+Enter")
    assert Edit.objects.get().person.username == "ann"

    sign_in(tab, make_member(project, "reviewer", name="rev"))
    start(tab, "review")
    send(tab, "a")
    item = Item.objects.get()
    assert (item.state, Foil.objects.get().text) == (ItemState.IN_VALIDATION, FOIL)

    sign_in(tab, make_member(project, "validator", name="vera"))
    start(tab, "validation")
    send(tab, str(tab.evaluate(TEXTS).index(CAPTION) + 1), "Control+Enter")
    vote = Vote.objects.get()
    assert vote.choice == "caption"
    assert 0 < vote.watch["covered"] <= 1


def test_the_page_of_a_video_steps_through_its_frames(project: Project, tab: FirefoxTab) -> None:
    sign_in(tab, make_member(project, "researcher", name="rita"))
    tab.goto(f"/projects/dots/videos/{Video.objects.get().pk}/")
    tab.wait_for_selector("[data-player][data-ready]", timeout=PATIENCE_MS)
    for frame in range(1, 6):
        tab.press("body", ".")
        tab.wait_for_selector(f'[data-player][data-shown="{frame}"]', timeout=PATIENCE_MS)


def test_a_clip_that_firefox_cannot_play_says_so(project: Project, tab: FirefoxTab) -> None:
    video = Video.objects.get()
    with video.file.open("wb") as file:
        file.write(b"not a video, whatever its name says")
    sign_in(tab, make_member(project, "researcher", name="rita"))
    tab.goto(f"/projects/dots/videos/{video.pk}/")
    tab.wait_for_selector("[data-player-error]", timeout=PATIENCE_MS)
    said = tab.evaluate("() => document.querySelector('[data-player-error]').innerText")
    assert "Your browser cannot play this video." in said
    assert "open it in another browser" in said
    tab.complaints.clear()
