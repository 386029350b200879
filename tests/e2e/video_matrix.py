"""Do people, models, film strips and stored evidence see the same frames of an odd file? One row of the matrix."""

import base64
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from PIL import Image
from playwright.sync_api import TimeoutError as TooLate

from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.corpus.video_files.film_strips import prepare_video
from foilworks.core.corpus.video_files.ingest import set_media, store_media
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.media.frames import sample_frames
from foilworks.core.media.strips import FRAMES, GAP
from foilworks.core.projects.models import Project
from tests.media.odd_files import OddFile, differs, expected, grid

# Before the page's own scripts: a form that takes the evidence, and our own record of the frames that were presented.
LISTEN = """
new MutationObserver((changes, observer) => {
  const player = document.querySelector("[data-player]");
  if (!player) return;
  observer.disconnect();
  const form = document.createElement("form");
  form.id = "evidence";
  document.documentElement.append(form);
  player.dataset.evidenceFor = "evidence";
  const video = player.querySelector("video");
  window.presented = [];
  const note = (now, frame) => {
    window.presented.push(frame.mediaTime);
    video.requestVideoFrameCallback(note);
  };
  video.requestVideoFrameCallback(note);
}).observe(document, { childList: true, subtree: true });
"""
EVIDENCE = "() => Number(new FormData(document.getElementById('evidence')).get('watch_covered'))"
# Two turns of the compositor later, what was sought is on the screen.
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# Base64 of what the site answers, "" if it is an error.
FETCH = """async (address) => {
  const answer = await fetch(address);
  if (!answer.ok) return "";
  return btoa(Array.from(new Uint8Array(await answer.arrayBuffer()), (byte) => String.fromCharCode(byte)).join(""));
}"""
# As a person who drags the slider.
SCRUB = """(frame) => {
  const scrub = document.querySelector("[data-player-scrub]");
  scrub.value = String(frame);
  scrub.dispatchEvent(new Event("input", { bubbles: true }));
}"""
# Where the video is in the window, and the size of its picture.
PLACE = """() => {
  const video = document.querySelector("video");
  video.scrollIntoView({ block: "nearest" });
  const { x, y, width, height } = video.getBoundingClientRect();
  return { clip: { x, y, width, height }, size: [video.videoWidth, video.videoHeight] };
}"""
# What a player shows of a picture is as sharp as its scaling: colours may be a little off. A wrong matrix or range is
# off by 20. Without a GPU, Chromium converts BT.709 by libyuv, whose rounded coefficient for blue adds up to 8.
SCREEN_TOLERANCE, ROUNDED_BLUE = 18.0, 8.0
# Tiles of film strips are small.
STRIP_TOLERANCE = 40.0
READY_MS = 10_000
# Browsers round a frame's time.
ROUNDING_S = 0.001
# So many samples meet every frame of the files, whatever its rate; pixels of the longer side.
SAMPLES, MODEL_SIDE = 800, 192


class Tab(Protocol):
    """What the matrix calls of a browser's tab: Playwright's `Page`, or tests.e2e.firefox.FirefoxTab."""

    def goto(self, url: str, /) -> Any: ...
    def evaluate(self, expression: str, arg: Any = None, /) -> Any: ...
    def wait_for_selector(self, selector: str, /, *, timeout: float) -> Any: ...
    def press(self, selector: str, key: str, /) -> None: ...
    def screenshot(self, *, clip: Any) -> bytes: ...


@dataclass
class Row:
    """`problems` by who disagrees: screen, player, models, evidence, strip. `refused`: the import's message.

    `off`: the largest difference between colours on the screen and those expected, 0 to 255.
    """

    name: str
    refused: str = ""
    converted: str = ""
    frames: int = 0
    off: float = 0.0
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def agrees(self) -> bool:
        return not self.problems

    def line(self) -> str:
        verdict = "refused" if self.refused and self.agrees else "agree" if self.agrees else "DISAGREE"
        said = "; ".join(f"{who}: {what}" for who, what in self.problems.items()) or self.refused or self.converted
        return f"{self.name:32} {verdict:9} {self.frames:4} {self.off:4.0f}  {said}"


def measure(page: Tab, project: Project, path: Path, odd: OddFile | None) -> Row:
    """Import the file, step through it in the browser, and hold everybody's pictures against each other and the truth.

    `odd` None: nobody knows what is in the file; the browser and the models must agree.
    """
    row = Row(path.name)
    start, end = odd.trim if odd else (None, None)
    kept = store_media(path, is_film=(start, end) != (None, None))
    video = Video(project=project, key=path.name if odd else f"also/{path.name}", start_time=start, end_time=end)
    set_media(video, kept, {})
    video.save()
    row.converted = video.conversion
    if video.media_state == MediaState.READY:
        prepare_video(video)
    if video.media_state != MediaState.READY:
        row.refused = video.media_error
        if odd is not None and (not odd.refused or odd.refused not in video.media_error):
            row.problems["import"] = f"refused: {video.media_error}"
        return row
    if odd is not None and odd.refused:
        row.problems["import"] = f"taken, and should be refused: {odd.refused}"
        return row
    seen = _watch(page, project, video, row)
    if seen:
        _compare(row, video, seen, odd)
    return row


def _watch(page: Tab, project: Project, video: Video, row: Row) -> dict[str, Any]:
    """Count and pictures of the frames, and the evidence after every frame was stepped to."""
    page.goto(f"/projects/{project.slug}/videos/{video.pk}/")
    try:
        page.wait_for_selector("[data-player][data-ready]", timeout=READY_MS)
    except (TooLate, TimeoutError):
        row.problems["screen"] = "does not play"
        return {}
    count = page.evaluate("() => Number(document.querySelector('[data-player-scrub]').max)") + 1
    pictures: list[np.ndarray] = []
    for index in range(count):
        if index:
            page.press("body", ".")
        try:
            page.wait_for_selector(f'[data-player][data-shown="{index}"]', timeout=READY_MS)
        except (TooLate, TimeoutError):
            row.problems["player"] = f"never shows frame {index} of {count}"
            return {}
        page.evaluate(PAINTED)
        pictures.append(_screen(page))
    _seek_about(page, pictures, row)
    return {
        "count": count,
        "pictures": pictures,
        "presented": page.evaluate("() => window.presented"),
        "covered": page.evaluate(EVIDENCE),
        "strip": base64.b64decode(page.evaluate(FETCH, f"/projects/{project.slug}/videos/{video.pk}/strip/")),
    }


def _seek_about(page: Tab, pictures: list[np.ndarray], row: Row) -> None:
    """Seek to the last frame, backwards, then in a random order: each frame looks as when it was stepped to."""
    count = len(pictures)
    shuffled = np.random.default_rng(count).permutation(count).tolist()
    for index in [count - 1, *range(count - 1, -1, -max(1, count // 6)), *shuffled[:12], 0, count - 1]:
        page.evaluate(SCRUB, index)
        try:
            page.wait_for_selector(f'[data-player][data-shown="{index}"]', timeout=READY_MS)
        except (TooLate, TimeoutError):
            row.problems["seek"] = f"never shows frame {index} of {count}"
            return
        page.evaluate(PAINTED)
        off = differs(grid(_screen(page)), grid(pictures[index]))
        if off > SCREEN_TOLERANCE:
            row.problems["seek"] = f"frame {index} looks different after a seek ({off:.0f})"


def _screen(page: Tab) -> np.ndarray:
    """The video as it stands on the screen, without the bars around it."""
    place = page.evaluate(PLACE)
    shot = np.asarray(Image.open(io.BytesIO(page.screenshot(clip=place["clip"]))).convert("RGB"))
    width, height = place["size"]
    scale = min(shot.shape[1] / width, shot.shape[0] / height)
    wide, high = round(width * scale), round(height * scale)
    left, top = (shot.shape[1] - wide) // 2, (shot.shape[0] - high) // 2
    return shot[top : top + high, left : left + wide]


def _compare(row: Row, video: Video, seen: dict[str, Any], odd: OddFile | None) -> None:
    scale = min(1.0, MODEL_SIDE / max(video.width, video.height))
    size = round(video.height * scale), round(video.width * scale)
    sample = sample_frames(Path(clip_file(video)), SAMPLES, video.start_time, video.end_time, size)
    firsts = [at for at, time in enumerate(sample.times) if at == 0 or time != sample.times[at - 1]]
    models = [sample.frames[at] for at in firsts]
    # Firefox reports the moment that was sought, others the frame's beginning. Before a seek, that is 0, even if the
    # sound starts first: as in the player's clock, the time before the first frame counts as that frame.
    edges = np.array([sample.times[at] for at in firsts]) - ROUNDING_S
    edges[0] = 0.0
    shown = len(set(np.searchsorted(edges, seen["presented"], side="right").tolist()))
    truth = models if odd is None else [expected(odd, number) for number in odd.shown]
    n = row.frames = len(truth)
    if len(models) != n:
        row.problems["models"] = f"{len(models)} of {n} frames"
    elif odd is not None:
        worst = max(differs(grid(one), grid(other)) for one, other in zip(models, truth, strict=True))
        if worst > odd.tolerance:
            row.problems["models"] = f"other pictures ({worst:.0f})"
    # Whole cells of pictures that nobody painted for this, which may be as fine as pixels.
    part = 2 if odd is None else 6
    pairs = zip(seen["pictures"], truth, strict=False)
    row.off = max(differs(grid(one, part), grid(other, part)) for one, other in pairs)
    if row.off > min(SCREEN_TOLERANCE, odd.tolerance + ROUNDED_BLUE if odd else SCREEN_TOLERANCE):
        row.problems["screen"] = f"other pictures ({row.off:.0f})"
    if seen["count"] != n or shown != n:
        row.problems["player"] = f"says {seen['count']} frames, showed {shown} of {n}"
    if abs(seen["covered"] - shown / n) > 1e-3:
        row.problems["evidence"] = f"covered {seen['covered']:.2f}, shown {shown} of {n}"
    _compare_strip(row, video, seen["strip"], part)


def _compare_strip(row: Row, video: Video, strip: bytes, part: int) -> None:
    if not strip:
        row.problems["strip"] = "none"
        return
    picture = np.asarray(Image.open(io.BytesIO(strip)).convert("RGB"))
    wanted = sample_frames(Path(clip_file(video)), FRAMES, video.start_time, video.end_time).frames
    width = (picture.shape[1] - (FRAMES - 1) * GAP) // FRAMES
    tiles = [picture[:, at : at + width] for at in range(0, picture.shape[1], width + GAP)]
    worst = max(differs(grid(tile, part), grid(frame, part)) for tile, frame in zip(tiles, wanted, strict=True))
    if worst > STRIP_TOLERANCE:
        row.problems["strip"] = f"other pictures ({worst:.0f})"
