"""Print the path of a Chromium that starts, and install one if possible; the browser tests need it.

Tries in turn FOILWORKS_CHROMIUM, the system's, playwright's own download, apt-get as root. If none works, it fails and
says what to install: the browser tests are part of the suite and are never skipped silently.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# The browser without a window comes first: it does a quarter less work for the same tests.
SHELLS = ("chromium-headless-shell", "chrome-headless-shell")
NAMES = (*SHELLS, "chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
MAC_APPLICATIONS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
ASK_PLAYWRIGHT = (
    "from playwright.sync_api import sync_playwright\n"
    "with sync_playwright() as playwright:\n"
    "    print(playwright.chromium.executable_path)\n"
)


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def starts(path: str) -> bool:
    """Return whether it runs here: Ubuntu's `chromium-browser` without snap, or missing libraries, do not."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def of_the_system() -> Iterator[str]:
    yield from (path for name in NAMES if (path := shutil.which(name)))
    yield from (path for path in MAC_APPLICATIONS if Path(path).exists())


def of_playwright() -> Iterator[str]:
    asked = subprocess.run([sys.executable, "-c", ASK_PLAYWRIGHT], capture_output=True, text=True, check=False)
    if asked.returncode == 0 and Path(path := asked.stdout.strip()).exists():
        yield path


def run(command: list[str], environment: dict[str, str] | None = None) -> bool:
    say("+ " + " ".join(command))
    return subprocess.run(command, stdout=sys.stderr, env=environment, check=False).returncode == 0


def download_with_playwright() -> None:
    run([sys.executable, "-m", "playwright", "install", "chromium"])


def install_with_apt() -> None:
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    run([apt, "update", "-qq"], quiet)
    install = [apt, "install", "-y", "-qq", "--no-install-recommends"]
    # Ubuntu has no package of this name.
    if not run([*install, "chromium-headless-shell"], quiet):
        run([*install, "chromium"], quiet)


def find() -> str | None:
    named = os.environ.get("FOILWORKS_CHROMIUM")
    if named:
        return named if starts(named) else None
    if found := first_that_starts(of_the_system()) or first_that_starts(of_playwright()):
        return found
    say("no Chromium found; installing one for the browser tests")
    download_with_playwright()
    if found := first_that_starts(of_playwright()):
        return found
    install_with_apt()
    # apt-get may also have installed the libraries that playwright's own download lacked.
    return first_that_starts(of_the_system()) or first_that_starts(of_playwright())


def first_that_starts(paths: Iterator[str]) -> str | None:
    return next((path for path in paths if starts(path)), None)


def main() -> int:
    path = find()
    if path is None:
        say(
            "no Chromium that starts: install it with your package manager (Debian, Ubuntu: `apt-get install "
            "chromium`; Fedora: `dnf install chromium`; macOS: `brew install --cask chromium`), or set "
            "FOILWORKS_CHROMIUM to the program, then run make again"
        )
        return 1
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
