"""The wheel holds the whole product and runs away from the clone."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from foilworks import __version__
from foilworks.site.help_pages import SHELVES
from tests.ports import free_port
from tests.pythons import VERSIONS, python_of
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = sorted(path.parent.name for path in ROOT.glob("*/__init__.py") if path.parent.name != "tests")
# Generated next to the sources, never shipped.
NOT_SHIPPED = shutil.ignore_patterns("__pycache__", "*.pyc")
BUILD = "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[2])(sys.argv[1])"
# What a user's shell has and a test's environment does not hide: our own settings and the path to this clone.
OURS = ("FOILWORKS_", "PYTHONPATH", "DJANGO_", "DATABASE_URL", "REDIS_URL", "STORAGE_URL", "PROMETHEUS_")
READY_SECONDS = 120


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is shipped, so that the clone keeps no build folder."""
    copy = tmp_path_factory.mktemp("source")
    for name in (*PACKAGES, "tests"):
        shutil.copytree(ROOT / name, copy / name, ignore=NOT_SHIPPED)
    for name in ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "manage.py"):
        shutil.copy(ROOT / name, copy)
    return copy


def build(source: Path, out: Path, kind: str) -> Path:
    """Build a wheel or an sdist. torch brings setuptools: nothing is downloaded."""
    out.mkdir()
    command = [sys.executable, "-c", BUILD, str(out), f"build_{kind}"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = out.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(copy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(copy, tmp_path_factory.mktemp("dist") / "wheel", "wheel")


def environment(home: Path) -> dict[str, str]:
    """The environment of somebody whose data folder is `home`, without any variable of ours."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return {**kept, "XDG_DATA_HOME": str(home)}


@pytest.mark.full
def test_the_wheel_holds_every_file_of_the_packages_and_nothing_else(wheel: Path) -> None:
    files = (path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file())
    wanted = {path.relative_to(ROOT).as_posix() for path in files if path.suffix != ".pyc" and not path.is_symlink()}
    # foilworks/site links to the folders at the root: all of the pages, and of docs/ the pages for users.
    for name in ("templates", "static"):
        linked = (path for path in (ROOT / name).rglob("*") if path.is_file())
        wanted |= {f"foilworks/site/{path.relative_to(ROOT).as_posix()}" for path in linked}
    wanted |= {f"foilworks/site/docs/{path.relative_to(ROOT / 'docs')}" for path in (ROOT / "docs").glob("*.md")}
    for shelf in SHELVES:
        wanted |= {f"foilworks/site/docs/{shelf}/{path.name}" for path in (ROOT / "docs" / shelf).glob("*.md")}
    example = ROOT / "docs/examples/plugin"
    files = (path for path in example.rglob("*") if path.is_file() and path.suffix != ".pyc")
    wanted |= {f"foilworks/site/plugin_example/{path.relative_to(example).as_posix()}" for path in files}
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    described = {name for name in held if name.startswith(f"foilworks-{__version__}.dist-info/")}
    assert wheel.name == f"foilworks-{__version__}-py3-none-any.whl"
    assert f"foilworks-{__version__}.dist-info/licenses/LICENSE" in described
    assert held - described == wanted
    assert {name.partition("/")[0] for name in wanted} == {"annotation", "evaluation", "foilworks", "generation"}
    # Of each kind, one that would be missed first.
    assert wanted >= {
        "foilworks/site/templates/foilworks/base.html",
        "foilworks/site/static/foilworks/base.css",
        "evaluation/migrations/0001_squashed_0_2.py",
    }


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.full
def test_the_wheel_of_the_sdist_is_the_same(copy: Path, wheel: Path, tmp_path: Path) -> None:
    """What is published is built from the sdist, which has no tests and no links."""
    sdist = build(copy, tmp_path / "sdist", "sdist")
    with tarfile.open(sdist) as archive:
        assert {member.type for member in archive} <= {tarfile.REGTYPE, tarfile.DIRTYPE}
        archive.extractall(tmp_path, filter="data")
    source = tmp_path / f"foilworks-{__version__}"
    assert not (source / "tests").exists()
    assert contents(build(source, tmp_path / "again", "wheel")) == contents(wheel)


@pytest.mark.full
@pytest.mark.slow(seconds=30)
def test_make_builds_the_same_wheel_without_the_development_environment(
    copy: Path, wheel: Path, tmp_path: Path
) -> None:
    clone = shutil.copytree(copy, tmp_path / "clone")
    for name in ("Makefile", "constraints.txt"):
        shutil.copy(ROOT / name, clone)
    done = subprocess.run(["make", "wheel"], cwd=clone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    names = {path.name.partition("-")[0]: path for path in (clone / "dist").iterdir()}
    assert sorted(names) == ["foilworks", "foilworks_client"]
    assert contents(names["foilworks"]) == contents(wheel)
    installed = {path.name for path in clone.glob(".venv/lib/python*/site-packages/*")}
    assert not {"django", "numpy", "torch"} & installed


@pytest.mark.full
@pytest.mark.slow(seconds=120)
@pytest.mark.parametrize("version", VERSIONS)
def test_the_base_runs_on_every_python_that_the_classifiers_name(wheel: Path, tmp_path: Path, version: str) -> None:
    """Prints what the base costs: MiB on the disk, seconds of CPU and peak memory of an audit."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        named = tomllib.load(file)["project"]["classifiers"]
    assert f"Programming Language :: Python :: {version}" in named
    base = python_of(version)
    if base is None:
        pytest.skip(f"there is no Python {version} on this machine")
    subprocess.run([base, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = ("-m", "pip", "install", "--quiet", "--no-compile", "--constraint", ROOT / "constraints.txt", wheel)
    own = environment(tmp_path / "data")
    outputs = []
    for command in ([*install], ["-c", NOTEBOOK + COST], ["-m", "foilworks", "--version"]):
        done = subprocess.run([python, *command], cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout.splitlines())
    verdict, cost = outputs[1]
    assert verdict == "fail"
    assert outputs[2] == [f"foilworks {__version__}"]
    sys.stdout.write(f"Python {version}: {cost}\n")


@pytest.mark.full
def test_an_installed_package_keeps_its_data_in_the_users_folder(wheel: Path, tmp_path: Path) -> None:
    """Unpacked, with the libraries of this environment: no manage.py is beside the packages."""
    site, data, work = tmp_path / "site", tmp_path / "data", tmp_path / "work"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    work.mkdir()
    (work / ".env").write_text(
        "CHAT_ENDPOINTS=lab\nCHAT_LAB_URL=http://10.0.0.7/v1\nCHAT_LAB_MODELS=tiny\n", encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", "from foilworks.site.cli import main; main()", "doctor", "--json"],
        cwd=work,
        env={**environment(data), "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = {check["name"]: check["found"] for check in json.loads(done.stdout)["checks"]}
    assert found["foilworks"] == f"{__version__}, installed at {site}"
    assert found["settings"] == f"the environment and {work / '.env'}"
    assert found["database"].endswith("no tables yet")
    assert found["home"].startswith(f"{data / 'foilworks'}, the default")
    assert found["endpoints"].startswith("lab (tiny), not tried")


@contextmanager
def served(program: Path, folder: Path, own: dict[str, str]) -> Iterator[str]:
    """The address of `foilworks up`, started in `folder` and stopped after the block."""
    address = f"http://127.0.0.1:{free_port()}"
    log = folder / "up.log"
    with log.open("wb") as out:
        command = [program, "up", "--port", address.rpartition(":")[2]]
        process = subprocess.Popen(command, cwd=folder, env=own, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        ready = f"Foilworks is at {address}/"
        wait_until(lambda: ready in log.read_text(encoding="utf-8"), processes=[process], log=log.read_text)
        yield address
    finally:
        process.terminate()
        process.wait(60)


# Of the packages of the light install, in bytes, without pip and byte code.
MAX_LIGHT_BYTES = 300 * 1024**2
NOTEBOOK = """
import foilworks
rows = [{"caption": f"a dog jumps {n}", "foil": f"a dog sleeps {n}", "video": f"v{n}"} for n in range(12)]
print(foilworks.audit(rows).verdict)
"""
# After an audit of 12 pairs.
COST = """
import resource, sys
from pathlib import Path
folder = next(Path(path) for path in sys.path if path.endswith("site-packages"))
size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
used = resource.getrusage(resource.RUSAGE_SELF)
print(f"{size / 2**20:.0f} MiB, {used.ru_utime + used.ru_stime:.2f} s CPU, peak {used.ru_maxrss / 1024:.0f} MiB")
"""


# Of every process of an environment: a call to another computer is an error.
OFFLINE = """
import ipaddress, sys

def refuse(event, arguments):
    if event == "socket.getaddrinfo" and arguments[0] not in (None, "localhost", "127.0.0.1"):
        raise OSError(f"no network in this test: {arguments}")
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        assert ipaddress.ip_address(arguments[1][0]).is_loopback, arguments

sys.addaudithook(refuse)
"""


@pytest.mark.full
@pytest.mark.slow(seconds=180)
def test_a_light_install_is_small_audits_and_runs_the_notebooks(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "venv"
    venv.create(place, with_pip=True)
    python, program = place / "bin" / "python", place / "bin" / "foilworks"
    own = {**environment(tmp_path / "data"), "PYTHONDONTWRITEBYTECODE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

    def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)

    (packages,) = (place / "lib").glob("*/site-packages")

    def size() -> int:
        return sum(path.stat().st_size for path in packages.rglob("*") if path.is_file() and path.suffix != ".pyc")

    before = size()
    install = ("install", "--quiet", "--no-compile", "--constraint", ROOT / "constraints.txt", wheel)
    assert run(python, "-m", "pip", *install).returncode == 0
    assert size() - before < MAX_LIGHT_BYTES
    done = run(python, "-c", NOTEBOOK)
    assert done.stdout.strip() == "fail", done.stderr
    (tmp_path / "set.csv").write_text("caption,foil\na dog jumps,a dog sleeps\n", encoding="utf-8")
    assert run(program, "audit", "set.csv").returncode == 0
    assert run(program, "up").returncode == 1
    # Read in a process of its own, which no other test can keep from its libraries.
    (tmp_path / "set.parquet").write_bytes(b"PAR1")
    assert "foilworks[parquet]" in run(program, "audit", "set.parquet").stderr
    # A copy: beside the clone, its packages would be imported instead of those of the wheel.
    for name in ("docs/examples", "scripts"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=NOT_SHIPPED)
    install = ("install", "--quiet", "--no-compile", "--constraint", ROOT / "constraints.txt", "nbclient", "ipykernel")
    assert run(python, "-m", "pip", *install).returncode == 0
    assert not {"pandas", "matplotlib", "torch"} & {path.name for path in packages.iterdir()}
    (packages / "sitecustomize.py").write_text(OFFLINE, encoding="utf-8")
    done = run(python, "scripts/notebooks.py", "check")
    assert done.returncode == 0, done.stderr


@pytest.mark.full
@pytest.mark.slow(seconds=300)
def test_an_empty_environment_runs_the_demo_and_serves_its_pages(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "venv"
    venv.create(place, with_pip=True)
    own = environment(tmp_path / "data")
    own["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    python, program = place / "bin" / "python", place / "bin" / "foilworks"
    for command in (
        # First, because pip by itself takes a CUDA build of several GB on Linux.
        [python, ROOT / "scripts" / "install_torch.py"],
        [python, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", f"{wheel}[models]"],
        [program, "demo", "--headless", "--json"],
    ):
        done = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert result["models"]["temporal"]["T"] > result["models"]["average"]["T"]
    assert Path(result["export"]).is_relative_to(tmp_path / "data" / "foilworks")
    with served(program, tmp_path, own) as address, httpx.Client(base_url=address, follow_redirects=True) as client:
        page = client.get("/sign-in/")
        assert page.status_code == 200
        linked = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
        assert {one.rpartition(".")[2] for one in linked} >= {"css", "js"}
        files = [client.get(one) for one in linked]
        modules = [str(file.url.join(name)) for file in files for name in re.findall(r'from "(\./[^"]+)"', file.text)]
        assert modules
        assert {file.status_code for file in [*files, *map(client.get, modules)]} == {200}
