"""The player shows exactly the frame that it names: each frame of the clip carries its number as pixels."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs

import pytest
from django.core.files.base import ContentFile
from django.templatetags.static import static
from playwright.sync_api import Page, expect

from foilworks.core.corpus.models import Video
from foilworks.core.corpus.video_files.film_strips import prepare_video
from foilworks.core.corpus.video_files.ingest import set_media, store_media
from foilworks.core.media.clock import even_clock
from tests.e2e.conftest import IN_BOTH_WIDTHS, SignIn, assert_accessible, film, wait_for
from tests.e2e.video_matrix import EVIDENCE, LISTEN, SCRUB
from tests.factories import make_member, make_project, make_video
from tests.media.odd_files import UNEVEN, make, odd_files
from tests.media.painted import BITS, painted_clip

pytestmark = pytest.mark.django_db(transaction=True)

# Draws what the video shows and reads the painted number back, as tests.media.painted.read_index does.
SHOWN = """() => {
  const video = document.querySelector("video");
  const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(video, 0, 0);
  const cell = video.videoWidth / %d;
  let number = 0;
  for (let bit = 0; bit < %d; bit += 1) {
    const [red] = context.getImageData((bit + 0.5) * cell, video.videoHeight / 4, 1, 1).data;
    if (red > 128) number += 2 ** bit;
  }
  return number;
}""" % (BITS, BITS)  # noqa: UP031
# The same of tests.media.odd_files, whose numbers stand in the middle.
SHOWN_ODD = SHOWN.replace("videoHeight / 4", "videoHeight / 2")


@pytest.fixture
def open_clip(sign_in: SignIn) -> Callable[..., Page]:
    """`open_clip(start_time=…)`: the page of a clip of 40 numbered frames, 10 a second, in a ready player."""

    def open_clip(**trim: float) -> Page:
        project = make_project()
        video: Video = film(project, painted_clip(40), 10.0, **trim)
        page = sign_in(make_member(project, "researcher"))
        page.goto(f"/projects/{project.slug}/videos/{video.pk}/")
        page.wait_for_selector("[data-player][data-ready]")
        return page

    return open_clip


def settle(page: Page, frame: int) -> None:
    """Waits until the player shows this frame of the trim (0 is its first) and says so."""
    expect(page.locator("[data-player]")).to_have_attribute("data-shown", str(frame))
    expect(page.locator("[data-player-frame]")).to_contain_text(f"{frame + 1} / ")


def until(page: Page, number: int) -> int:
    """Return the number on the screen: as soon as it is this one, or after ten seconds whatever it is."""
    wait_for(page, lambda: page.evaluate(SHOWN_ODD) == number, lambda: page.evaluate(SHOWN_ODD))
    return number


def press(page: Page, key: str, times: int = 1) -> None:
    """Presses a key so often, waiting for each seek that it starts."""
    for _ in range(times):
        page.keyboard.press(key)
        expect(page.locator("[data-player]")).not_to_have_attribute("data-shown", "")


def test_each_step_shows_the_next_frame_and_back(open_clip: Callable[..., Page]) -> None:
    page = open_clip()
    shown = [page.evaluate(SHOWN)]
    for frame in range(1, 12):
        press(page, ".")
        settle(page, frame)
        shown.append(page.evaluate(SHOWN))
    assert shown == list(range(12))
    page.keyboard.press(",")
    settle(page, 10)
    assert page.evaluate(SHOWN) == 10


def test_only_the_trim_is_shown(open_clip: Callable[..., Page]) -> None:
    page = open_clip(start_time=1.0, end_time=2.0)  # frames 10 to 19
    assert page.evaluate(SHOWN) == 10
    page.keyboard.press(",")
    settle(page, 0)
    assert page.evaluate(SHOWN) == 10
    page.locator("[data-player-scrub]").fill("9")
    settle(page, 9)
    assert page.evaluate(SHOWN) == 19
    page.keyboard.press(".")
    settle(page, 9)
    assert page.evaluate(SHOWN) == 19


def test_playing_without_repeat_stops_at_the_last_frame_of_the_trim(open_clip: Callable[..., Page]) -> None:
    page = open_clip(start_time=1.0, end_time=2.0)
    page.keyboard.press("r")
    page.keyboard.press("k")
    # It shows the last frame, and does not go on.
    settle(page, 9)
    expect(page.locator("[data-player]")).to_have_attribute("data-state", "paused")
    settle(page, 9)
    assert page.evaluate(SHOWN) == 19


@pytest.mark.full
def test_an_a_b_loop_stays_between_its_ends(open_clip: Callable[..., Page]) -> None:
    page = open_clip()
    for key, times in ((".", 5), ("[", 1), (".", 4), ("]", 1)):
        press(page, key, times)
    settle(page, 9)
    # A quarter as fast, a frame stands for .4 s: only a page that had no turn for so long would see one too many.
    press(page, "<", 3)
    seen = page.evaluate(
        """async () => {
          const video = document.querySelector("video");
          const seen = new Set();
          document.querySelector('[data-player-do="toggle"]').click();
          const end = performance.now() + 4500;
          while (performance.now() < end) {
            const shown = await new Promise((done) => video.requestVideoFrameCallback((now, frame) => done(frame)));
            seen.add(Math.round(shown.mediaTime * 10));
          }
          return [...seen].sort((a, b) => a - b);
        }"""
    )
    assert set(seen) <= {5, 6, 7, 8, 9}
    assert {6, 7, 8, 9} <= set(seen)


def test_speed_is_remembered(open_clip: Callable[..., Page]) -> None:
    page = open_clip()
    page.keyboard.press("<")
    page.reload()
    page.wait_for_selector("[data-player][data-ready]")
    assert page.evaluate("document.querySelector('video').playbackRate") == 0.75


def test_what_was_watched_goes_with_the_form(open_clip: Callable[..., Page]) -> None:
    page = open_clip()
    body = page.evaluate(
        """async (address) => {
          const { Watch } = await import(address);
          const watch = new Watch(40);
          for (let frame = 0; frame < 10; frame += 1) {
            watch.moved();
            watch.saw(frame);
          }
          watch.saw(12, 2);
          watch.saw(15, 99);
          watch.moved();
          watch.saw(30, 5);
          watch.played(650);
          watch.played(9000);
          watch.held(400);
          watch.loops = 2;
          const data = new FormData();
          watch.writeInto(data);
          return new URLSearchParams(data).toString();
        }""",
        static("foilworks/player.js"),
    )
    # Frames 0-9 by steps; 11 and 12, of which the page was notified once; 13-15; 30 after a seek, alone. The ticks are
    # half a second at most: the tab slept. The last frame stayed for .4 s.
    assert parse_qs(body) == {"watch_seconds": ["1.40"], "watch_loops": ["2"], "watch_covered": ["0.4000"]}


@pytest.fixture
def open_odd(sign_in: SignIn, tmp_path: Path) -> Callable[..., Page]:
    """`open_odd(name, **fields)`: the page of an odd file that was imported, in a ready player; fields of its row."""

    def open_odd(name: str, **fields: object) -> Page:
        odd = next(odd for odd in odd_files() if odd.name == name)
        project = make_project()
        video = Video(project=project, key=name)
        set_media(video, store_media(make(odd, tmp_path)), {})
        for field, value in fields.items():
            setattr(video, field, value)
        video.save()
        page = sign_in(make_member(project, "researcher"))
        page.goto(f"/projects/{project.slug}/videos/{video.pk}/")
        page.wait_for_selector("[data-player][data-ready]")
        return page

    return open_odd


@pytest.mark.full
@pytest.mark.parametrize("name", ["uneven.mp4", "uneven.webm", "uneven-av1.mp4"])
def test_steps_through_a_variable_rate_visit_every_frame_once_in_both_directions(
    open_odd: Callable[..., Page], name: str
) -> None:
    page = open_odd(name)
    shown = [page.evaluate(SHOWN_ODD)]
    for frame in range(1, len(UNEVEN)):
        press(page, ".")
        settle(page, frame)
        shown.append(page.evaluate(SHOWN_ODD))
        expect(page.locator("[data-player-time]")).to_contain_text(f"{UNEVEN[frame]:.2f} / ")
    assert shown == list(range(len(UNEVEN)))
    for frame in reversed(range(len(UNEVEN) - 1)):
        press(page, ",")
        settle(page, frame)
        assert page.evaluate(SHOWN_ODD) == frame


def test_an_older_file_that_does_not_start_at_zero_is_shown_whole(sign_in: SignIn, tmp_path: Path) -> None:
    """It stays as it is; its clock says what the browser shows at second 0."""
    odd = next(odd for odd in odd_files() if odd.name == "late-both.mp4")
    project = make_project()
    facts = {"width": 128, "height": 64, "fps": 8.0, "n_frames": 16, "start_time": 1.0, "end_time": 1.5}
    video = make_video(project, sha256="5" * 64, **facts)
    video.file.save("late.mp4", ContentFile(make(odd, tmp_path).read_bytes()))
    prepare_video(video)
    page = sign_in(make_member(project, "researcher"))
    page.goto(f"/projects/{project.slug}/videos/{video.pk}/")
    page.wait_for_selector("[data-player][data-ready]")
    settle(page, 0)
    # The page is ready as soon as the seek to the first frame ends; the screen follows within a frame of its own.
    shown = [until(page, 8)]
    for frame in range(1, 4):
        press(page, ".")
        settle(page, frame)
        shown.append(page.evaluate(SHOWN_ODD))
    assert shown == [8, 9, 10, 11]


def test_a_seek_that_does_not_end_is_said_and_the_readout_is_true(sign_in: SignIn, tmp_path: Path) -> None:
    """As with a file of an earlier version, in which seeks never end."""
    project = make_project()
    video = film(project, painted_clip(40), 10.0)
    page = sign_in(make_member(project, "researcher"), alone=True)
    page.goto(f"/projects/{project.slug}/videos/{video.pk}/")
    page.wait_for_selector("[data-player][data-ready]")
    settle(page, 0)
    # Chromium ignores seeks of a decoder that is stuck in an open group; nothing else here stops it for certain.
    stuck = "{ configurable: true, set() {}, get: () => 0 }"
    page.evaluate(f"Object.defineProperty(document.querySelector('video'), 'currentTime', {stuck})")
    page.evaluate(SCRUB, 39)
    expect(page.locator("[data-player-frame]")).to_have_text("1 / 40")
    expect(page.locator("[data-player-late]")).to_be_visible()
    expect(page.locator("[data-player]")).to_have_attribute("data-shown", "0")
    page.evaluate("delete document.querySelector('video').currentTime")
    page.evaluate(SCRUB, 12)
    settle(page, 12)
    expect(page.locator("[data-player-late]")).to_be_hidden()


def test_seeking_past_frames_is_not_watch_evidence(sign_in: SignIn) -> None:
    """The clock names twice as many frames as the file has: the browser can show every other one."""
    project = make_project()
    video = film(project, painted_clip(3), 10.0, frame_times=even_clock(6, 20.0).packed())
    # Its script stays in the tab, so nobody else gets it.
    page = sign_in(make_member(project, "researcher"), alone=True)
    page.add_init_script(LISTEN)
    page.goto(f"/projects/{project.slug}/videos/{video.pk}/")
    page.wait_for_selector("[data-player][data-ready]")
    for frame in (0, 2, 2, 4, 4):
        press(page, ".")
        settle(page, frame)
    assert page.evaluate(EVIDENCE) == 0.5


def test_a_clip_without_a_clock_is_stepped_through_by_its_mean_rate(open_odd: Callable[..., Page]) -> None:
    """As before clocks were: no frame is where it is taken to be, and no step stays where it was."""
    page = open_odd("uneven-av1.mp4", frame_times="")
    for frame in range(1, len(UNEVEN)):
        press(page, ".")
        settle(page, frame)


def test_the_keys_dialog_lists_the_keys_and_can_silence_single_ones(open_clip: Callable[..., Page]) -> None:
    page = open_clip()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("row", name="Next frame")).to_contain_text(".")
    dialog.get_by_role("checkbox").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press(".")
    page.keyboard.press(".")
    settle(page, 0)


def open_stored(sign_in: SignIn, path: Path) -> Page:
    """The page of a clip that is stored as it is: no import has converted it."""
    project = make_project()
    facts = {"width": 128, "height": 64, "fps": 8.0, "n_frames": 16, "duration": 2.0}
    video = make_video(project, sha256="5" * 64, frame_times=even_clock(16, 8.0).packed(), **facts)
    video.file.save(path.name, ContentFile(path.read_bytes()))
    page = sign_in(make_member(project, "researcher"))
    page.goto(f"/projects/{project.slug}/videos/{video.pk}/")
    return page


# Without sound, the browser reports an error. With sound, it plays the sound alone and reports none.
@pytest.mark.parametrize("name", ["hevc.mov", "hevc.mp4"])
def test_a_clip_that_the_browser_cannot_play_says_so_and_what_to_do(sign_in: SignIn, tmp_path: Path, name: str) -> None:
    page = open_stored(sign_in, make(next(odd for odd in odd_files() if odd.name == name), tmp_path))
    alert = page.locator("[data-player]").get_by_role("alert")
    expect(alert).to_contain_text("Your browser cannot play this video.")
    expect(alert).to_contain_text("open it in another browser")
    expect(alert).to_contain_text("skip the task and tell the researcher")
    expect(alert).not_to_contain_text("too old", use_inner_text=True)
    expect(page.locator("[data-player-controls]")).to_be_hidden()
    assert page.locator("[data-player][data-ready]").count() == 0


def test_a_browser_that_reports_no_frames_gets_advice_to_update(sign_in: SignIn, tmp_path: Path) -> None:
    """As Firefox before 132."""
    project = make_project()
    video = film(project, painted_clip(3), 10.0)
    # Its script stays in the tab, so nobody else gets it.
    page = sign_in(make_member(project, "researcher"), alone=True)
    page.add_init_script("delete HTMLVideoElement.prototype.requestVideoFrameCallback")
    page.goto(f"/projects/{project.slug}/videos/{video.pk}/")
    alert = page.locator("[data-player]").get_by_role("alert")
    expect(alert).to_contain_text("Your browser is too old")
    expect(alert).to_contain_text("Update it")
    expect(alert).not_to_contain_text("Reload the page", use_inner_text=True)
    expect(page.locator("[data-player-controls]")).to_be_hidden()


@IN_BOTH_WIDTHS
def test_the_player_is_accessible(sign_in: SignIn, narrow: bool) -> None:
    project = make_project()
    video = film(project, painted_clip(10), 10.0)
    page = sign_in(make_member(project, "researcher"), narrow=narrow)
    page.goto(f"/projects/{project.slug}/videos/{video.pk}/")
    page.wait_for_selector("[data-player][data-ready]")
    assert_accessible(page)
