"""Compare odd video files: what the browser's screen shows, what models get, what is counted.

Creates some hundred files, imports each, steps through every frame in a browser and prints one line per file. The
summary is in docs/explanation/video.md. Firefox is the system's own, such as Debian's package firefox-esr.

    .venv/bin/python -m tests.e2e.every_odd_file [--browser firefox] [--only WORD] [--also FOLDER]
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.served_home import own_home, serving, session_of

if TYPE_CHECKING:
    from tests.e2e.video_matrix import Tab


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--browser", choices=TABS, default="chromium")
    parser.add_argument("--only", default="", help="only files whose name contains this")
    parser.add_argument("--also", type=Path, help="a folder of your own files, without known facts")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    os.environ["FOILWORKS_DEBUG"] = "1"
    from tests.e2e.firefox import FirefoxMissing

    try:
        with own_home(sqlite=True), tempfile.TemporaryDirectory() as folder, serving() as server:
            rows = _measure(options, Path(folder), f"http://127.0.0.1:{server.port}")
    except FirefoxMissing as missing:
        print(missing, file=sys.stderr)
        return 2
    disagree = sum(not row.agrees for row in rows)
    print(f"{len(rows)} files: {len(rows) - disagree} agree or are refused, {disagree} disagree")
    return int(disagree > 0)


def _measure(options: argparse.Namespace, folder: Path, site: str) -> list:
    from tests.e2e.video_matrix import measure
    from tests.factories import make_member, make_project
    from tests.media.odd_files import OddFile, make, odd_files

    project = make_project()
    session = session_of(make_member(project, "researcher"))
    rows = []
    with TABS[options.browser](site, session) as tab:
        files: list[tuple[OddFile | None, Path]] = [
            (odd, make(odd, folder)) for odd in odd_files() if options.only in odd.name
        ]
        files += [(None, path) for path in sorted(options.also.iterdir()) if path.is_file()] if options.also else []
        for odd, path in files:
            rows.append(measure(tab, project, path, odd))
            print(rows[-1].line(), flush=True)
    return rows


@contextmanager
def _chromium(site: str, session: str) -> Iterator["Tab"]:
    from django.conf import settings
    from playwright.sync_api import sync_playwright

    from tests.e2e.video_matrix import LISTEN

    with sync_playwright() as playwright:
        path = settings.FOILWORKS_CHROMIUM or shutil.which("chromium-headless-shell") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        print(f"Chromium {browser.version}")
        page = browser.new_context(viewport={"width": 1280, "height": 800}, base_url=site).new_page()
        page.add_init_script(LISTEN)
        page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": site}])
        yield page


@contextmanager
def _firefox(site: str, session: str) -> Iterator["Tab"]:
    from django.conf import settings

    from tests.e2e.firefox import firefox
    from tests.e2e.video_matrix import LISTEN

    with firefox(site) as tab:
        print(f"Firefox {tab.version}")
        tab.add_init_script(LISTEN)
        tab.add_cookie(settings.SESSION_COOKIE_NAME, session)
        yield tab


TABS = {"chromium": _chromium, "firefox": _firefox}

if __name__ == "__main__":
    sys.exit(main())
