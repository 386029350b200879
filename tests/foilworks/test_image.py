"""The image's files serve every page: the wheel of the Containerfile's sources, and nothing of the clone."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTAINERFILE = (ROOT / "deploy/Containerfile").read_text(encoding="utf-8")
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
ASK = """
import django, json, sys
django.setup()
from django.conf import settings
from django.test import Client
from foilworks.site.help_pages import SHELVES
import foilworks
pages = ["/help/", "/sign-in/", "/readyz", "/healthz", "/api/openapi.json"]
pages += [f"/help/{path.stem}/" for path in (settings.PACKAGE / "docs").glob("*.md")]
for shelf in SHELVES:
    pages += [f"/help/{shelf}/{path.stem}/" for path in (settings.PACKAGE / "docs" / shelf).glob("*.md")]
found = {page: Client(SERVER_NAME="localhost").get(page).status_code for page in pages}
print(json.dumps([foilworks.__file__, found, settings.IN_CLONE, str(settings.CACHE_ROOT)]))
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `pip install` leaves of the wheel that the first stage builds from the files that it copies."""
    source, out, files = (tmp_path_factory.mktemp(name) for name in ("source", "dist", "files"))
    for folder in re.findall(r"^COPY (\S+)/ \1/$", CONTAINERFILE, re.MULTILINE):
        ignored = shutil.ignore_patterns("__pycache__", "_build")
        shutil.copytree(ROOT / folder, source / folder, symlinks=True, ignore=ignored)
    for name in re.search(r"^COPY (pyproject.toml.*) \./$", CONTAINERFILE, re.MULTILINE)[1].split():
        shutil.copy(ROOT / name, source)
    subprocess.run([sys.executable, "-c", BUILD, str(out)], cwd=source, capture_output=True, check=True)
    (wheel,) = out.iterdir()
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--target", files]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, wheel], check=True)
    return files


def environment(image: Path, home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FOILWORKS_", "DJANGO_"))}
    own = {"PYTHONPATH": str(image), "FOILWORKS_HOME": str(home), "XDG_CACHE_HOME": str(home / "none")}
    return {**kept, **own, "DJANGO_SETTINGS_MODULE": "foilworks.site.settings"}


@pytest.mark.full
@pytest.mark.slow(seconds=30)
def test_the_files_of_the_image_answer_with_all_help_pages(image, tmp_path):
    given = environment(image, tmp_path)
    migrate = [sys.executable, "-m", "django", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, env=given, cwd=tmp_path, check=True, capture_output=True)
    done = subprocess.run([sys.executable, "-c", ASK], env=given, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    where, statuses, in_clone, caches = json.loads(done.stdout.splitlines()[-1])
    assert (Path(where).is_relative_to(image), in_clone) == (True, False)
    assert len(statuses) > 50
    assert {page: status for page, status in statuses.items() if status != 200 and page != "/readyz"} == {}
    assert caches == str(tmp_path / "cache")


@pytest.mark.machines
def test_the_files_of_the_image_answer_on_every_page_of_the_access_matrix(image, tmp_path):
    """The matrix itself, run on these files in place of the clone's."""
    for name in ("tests", "scripts"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    given = environment(image, tmp_path / "home") | {"PYTHONPATH": f"{image}:{tmp_path}", "PYTEST_ADDOPTS": ""}
    where = "import foilworks; print(foilworks.__file__)"
    shown = subprocess.run([sys.executable, "-c", where], env=given, cwd=tmp_path, capture_output=True, text=True)
    assert Path(shown.stdout.strip()).is_relative_to(image)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_access_matrix.py"]
    done = subprocess.run(command, env=given, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
