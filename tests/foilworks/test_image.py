"""The image's files serve every page: the wheel of the Containerfile's sources, and nothing of the clone."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.foilworks.shared_work import CLIPS

ROOT = Path(__file__).resolve().parents[2]
CONTAINERFILE = (ROOT / "deploy/Containerfile").read_text(encoding="utf-8")
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
ASK = """
import django, json, sys
django.setup()
from django.conf import settings
from django.test import Client
from foilworks.site.help_pages import help_address, help_names
import foilworks
pages = ["/sign-in/", "/readyz", "/healthz", "/api/v1/openapi.json", *map(help_address, help_names())]
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
    """The variables of the Containerfile; whatever a program writes beside the home is below `home / "none"`."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("FOILWORKS_", "DJANGO_", "HF_"))
    }
    own = {"PYTHONPATH": str(image), "FOILWORKS_HOME": str(home), "HF_HOME": f"{home}/cache/huggingface"}
    none = {name: str(home / "none") for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    return {**inherited, **own, **none, "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.mark.full
@pytest.mark.slow(seconds=30)
def test_the_files_of_the_image_answer_with_all_help_pages(image, tmp_path):
    given = environment(image, tmp_path) | {"DJANGO_SETTINGS_MODULE": "foilworks.site.settings"}
    migrate = [sys.executable, "-m", "django", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, env=given, cwd=tmp_path, check=True, capture_output=True)
    where, statuses, in_clone, caches = json.loads(run(given, tmp_path, "-c", ASK).splitlines()[-1])
    assert (Path(where).is_relative_to(image), in_clone) == (True, False)
    assert len(statuses) > 50
    assert {page: status for page, status in statuses.items() if status != 200 and page != "/readyz"} == {}
    assert caches == str(tmp_path / "cache")


@pytest.mark.machines
def test_the_files_of_the_image_answer_on_every_page_of_the_access_matrix(image, tmp_path):
    """The matrix itself, run on these files in place of the clone's."""
    given = beside_tests(image, tmp_path)
    run(given, tmp_path, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "tests/test_access_matrix.py")


@pytest.mark.machines
def test_the_files_of_the_image_score_a_model_folder_and_write_only_below_the_home(image, tmp_path):
    """By the command that `scoring` runs, without a way out."""
    from tests.hub import folders

    given = beside_tests(image, tmp_path) | {"HF_HUB_OFFLINE": "1"}
    before = sorted(image.rglob("*"))
    run(given, tmp_path, "-m", "tests.foilworks.shared_work", "make", str(tmp_path / "program"))
    model = f"clip:{folders.clip(tmp_path / 'clip')}?frames=2"
    options = ("--project", "shared", "--release", "release 1", "--device", "cpu", "--sync", "--json")
    scored = json.loads(run(given, tmp_path, "-m", "foilworks", "evaluate", "model", model, *options).splitlines()[-1])
    assert (scored["overall"]["n"], scored["problems"]) == (CLIPS, {})
    assert sorted(image.rglob("*")) == before
    assert not (tmp_path / "home" / "none").exists()


def beside_tests(image: Path, folder: Path) -> dict[str, str]:
    """Copy the tests into the folder; return the variables with which they run on the image's files."""
    for name in ("tests", "scripts"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    given = environment(image, folder / "home") | {"PYTHONPATH": f"{image}:{folder}", "PYTEST_ADDOPTS": ""}
    where = run(given, folder, "-c", "import foilworks; print(foilworks.__file__)")
    assert Path(where.strip()).is_relative_to(image)
    return given


def run(given: dict[str, str], folder: Path, *arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], env=given, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout
