"""Which Chromium the browser tests take: only one that starts, and never a silent nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("ensure_chromium.py")


@pytest.fixture
def programs(tmp_path):
    """A folder of small programs that is the whole PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def add(name: str, status: int = 0) -> Path:
        path = folder / name
        path.write_text(f"#!/bin/sh\nexit {status}\n")
        path.chmod(0o755)
        return path

    add.folder = folder
    return add


def ensure(folder: Path, **environment: str) -> subprocess.CompletedProcess:
    kept = {name: value for name, value in os.environ.items() if name not in {"FOILWORKS_CHROMIUM", "PATH"}}
    # Playwright's own browsers live elsewhere in these tests, and its download has nowhere to go.
    isolated = {
        "PATH": str(folder),
        "PLAYWRIGHT_BROWSERS_PATH": str(folder / "none"),
        "PLAYWRIGHT_DOWNLOAD_HOST": "http://127.0.0.1:1",
    }
    return subprocess.run(
        [sys.executable, SCRIPT], env={**kept, **isolated, **environment}, capture_output=True, text=True, check=False
    )


def test_the_systems_browser_is_used(programs):
    chromium = programs("chromium")
    done = ensure(programs.folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{chromium}\n", "")


def test_the_headless_browser_is_preferred(programs):
    programs("chromium")
    shell = programs("chromium-headless-shell")
    assert ensure(programs.folder).stdout == f"{shell}\n"


def test_a_browser_that_does_not_start_is_skipped(programs):
    programs("chromium", status=1)
    other = programs("google-chrome")
    assert ensure(programs.folder).stdout == f"{other}\n"


def test_the_named_browser_is_preferred(programs):
    programs("chromium")
    named = programs("my-browser")
    assert ensure(programs.folder, FOILWORKS_CHROMIUM=str(named)).stdout == f"{named}\n"


def test_a_named_browser_that_does_not_start_is_an_error(programs):
    programs("chromium")
    done = ensure(programs.folder, FOILWORKS_CHROMIUM="/no/such/browser")
    assert (done.returncode, done.stdout) == (1, "")
    assert "set FOILWORKS_CHROMIUM to the program" in done.stderr


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "darwin", reason="applications are found beside the PATH there")
def test_without_any_browser_it_says_what_to_install(programs):
    done = ensure(programs.folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert "playwright install chromium" in done.stderr
    assert "`apt-get install chromium`" in done.stderr
