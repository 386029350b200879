"""Odd video files against the product: what the browser's screen shows, what models get, what is counted.

Makes some hundred files, imports each, steps through every frame in Chromium and prints one line per file. The summary
is in docs/explanation/video.md.

    .venv/bin/python benchmarks/video_matrix.py [--only WORD] [--also FOLDER]
"""

import argparse
import os
import shutil
import tempfile
from pathlib import Path

# First, since it puts the root on the path.
from _served import own_home, serving, session_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="files whose name holds this")
    parser.add_argument("--also", type=Path, help="a folder with files of yours, of which nothing is known")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    os.environ["FOILWORKS_DEBUG"] = "1"
    with own_home(sqlite=True), tempfile.TemporaryDirectory() as folder, serving() as server:
        rows = _measure(options, Path(folder), server.port)
    print(
        f"{len(rows)} files: {sum(row.agrees for row in rows)} agree or are refused, "
        f"{sum(not row.agrees for row in rows)} disagree"
    )


def _measure(options: argparse.Namespace, folder: Path, port: int) -> list:
    from django.conf import settings
    from playwright.sync_api import sync_playwright

    from tests.e2e.video_matrix import LISTEN, measure
    from tests.factories import make_member, make_project
    from tests.media.odd_files import make, odd_files

    project = make_project()
    person = make_member(project, "researcher")
    site = f"http://127.0.0.1:{port}"
    files = [(odd, make(odd, folder)) for odd in odd_files() if options.only in odd.name]
    files += [(None, path) for path in sorted(options.also.iterdir()) if path.is_file()] if options.also else []
    rows = []
    with sync_playwright() as playwright:
        path = settings.FOILWORKS_CHROMIUM or shutil.which("chromium-headless-shell") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_context(viewport={"width": 1280, "height": 800}, base_url=site).new_page()
        page.add_init_script(LISTEN)
        cookie = {"name": settings.SESSION_COOKIE_NAME, "value": session_of(person), "url": site}
        page.context.add_cookies([cookie])
        for odd, path in files:
            rows.append(measure(page, project, path, odd))
            print(rows[-1].line(), flush=True)
    return rows


if __name__ == "__main__":
    main()
