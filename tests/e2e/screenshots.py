"""Take the screenshots of the README, the tutorial and the landing page, and the frames of one clip.

    .venv/bin/python -m tests.e2e.screenshots               docs/images/*.webp and static/foilworks/landing.webp
    .venv/bin/python -m tests.e2e.screenshots --out FOLDER  elsewhere

The sample project is that of FOILWORKS_HOME; if there is none, it is created first (minutes). The server is started on
a free port and stopped at the end. The project changes only in ways that a visitor could change it.
"""

import argparse
import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from foilworks.site.demo.shape_videos import draw, evaluation_scenes
from tests.ports import free_port
from tests.served_home import answers_at

ROOT = Path(__file__).resolve().parents[2]
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 360, "height": 740}
QUALITY = 82
# Pixels per point of a part, which a README shows larger than the page does.
SHARP = 2
# The scene of the landing page: a blue ring that moves from left to right, of the world with this seed.
SEED, SCENE, FRAMES, GAP = 1, "scene-0036-forward", (0, 8, 15, 23), 8
STARTS_WITHIN_SECONDS = 60


@dataclass(frozen=True)
class Shot:
    """One screenshot.

    `role`: the account of the sample project to use; "" for none. `go`: actions from the first page on. `part`: the
    selector of what is shown; "" for the window.
    """

    name: str
    role: str
    go: Callable[[Page], object]
    window: dict[str, int]
    part: str = ""


def _at(path: str) -> Callable[[Page], object]:
    return lambda page: page.goto(path, wait_until="networkidle")


def _begin(page: Page) -> None:
    """Claim the person's first task, early in its clip, where the blinking object is still visible."""
    page.goto("/projects/demo/work/")
    page.locator("form button[data-hotkey='1']").click()
    page.locator("video").evaluate("(clip) => clip.readyState > 2 || new Promise((done) => { clip.oncanplay = done; })")
    page.locator("video").evaluate("(clip) => { clip.pause(); clip.currentTime = clip.duration / 12; }")
    page.wait_for_timeout(300)


def _leaderboard(page: Page) -> None:
    page.goto("/projects/demo/releases/")
    page.locator("main table a").first.click()
    page.goto(page.url.rstrip("/") + "/leaderboard/", wait_until="networkidle")


SHOTS = (
    Shot("landing", "", _at("/"), WIDE),
    Shot("ladder", "", _at("/"), WIDE, ".landing-ladder"),
    Shot("overview", "researcher", _at("/projects/demo/"), WIDE),
    Shot("validate", "validator", _begin, WIDE),
    Shot("validate-phone", "validator", _begin, PHONE),
    Shot("review", "reviewer", _begin, WIDE),
    Shot("report", "researcher", _at("/projects/demo/reports/agreement/"), WIDE),
    Shot("leaderboard", "researcher", _leaderboard, WIDE),
)


def frames_of_a_clip() -> Image.Image:
    """Return four frames side by side with a transparent gap."""
    scene = next(scene for scene in evaluation_scenes(84, SEED) if scene.key == SCENE)
    pictures = draw(scene)[list(FRAMES)]
    side = pictures.shape[1]
    sheet = np.zeros((side, len(FRAMES) * side + (len(FRAMES) - 1) * GAP, 4), np.uint8)
    for place, picture in enumerate(pictures):
        left = place * (side + GAP)
        sheet[:, left : left + side, :3], sheet[:, left : left + side, 3] = picture, 255
    return Image.fromarray(sheet)


@contextmanager
def served(port: int) -> Iterator[str]:
    """Serve the pages of the home until the block ends."""
    command = [sys.executable, "manage.py", "up", "--port", str(port), "--workers", "1"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + STARTS_WITHIN_SECONDS
        while not answers_at(port):
            if time.monotonic() > until or process.poll() is not None:
                raise SystemExit("the pages did not start; run `foilworks up` to see what is wrong")
            time.sleep(0.5)
        yield address
    finally:
        process.terminate()
        process.wait()


def shoot(browser: Browser, address: str, shot: Shot) -> Image.Image:
    context = browser.new_context(
        viewport=shot.window,  # type: ignore[arg-type]
        base_url=address,
        color_scheme="light",
        reduced_motion="reduce",
        device_scale_factor=SHARP if shot.part else 1,
    )
    page = context.new_page()
    if shot.role:
        page.goto("/sign-in/")
        page.get_by_role("button", name=f"Sign in as {shot.role}").first.click()
    shot.go(page)
    picture = Image.open(io.BytesIO(page.locator(shot.part).screenshot() if shot.part else page.screenshot()))
    context.close()
    return picture.convert("RGB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out", type=Path, help="a folder for all of them (default: where the README and the pages expect them)"
    )
    out = parser.parse_args().out
    pages, clip = (out, out) if out else (ROOT / "docs" / "images", ROOT / "static" / "foilworks")
    for folder in (pages, clip):
        folder.mkdir(parents=True, exist_ok=True)
    frames_of_a_clip().save(clip / "landing.webp", quality=QUALITY, method=6)
    subprocess.run([sys.executable, "manage.py", "demo", "--headless"], cwd=ROOT, check=True, stdin=subprocess.DEVNULL)
    found = subprocess.run([sys.executable, "tests/ensure_chromium.py"], cwd=ROOT, check=True, capture_output=True)
    chromium = os.environ.get("FOILWORKS_CHROMIUM") or found.stdout.decode().strip()
    with served(free_port()) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for shot in SHOTS:
            path = pages / f"{shot.name}.webp"
            shoot(browser, address, shot).save(path, quality=QUALITY, method=6)
            print(path)
        browser.close()


if __name__ == "__main__":
    main()
