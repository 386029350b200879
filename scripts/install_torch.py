"""Install the pinned torch into this environment, trying the smallest build that suits the machine first.

An ordinary `pip install torch` on Linux fetches a CUDA build of several GB even without a GPU. So, in turn: a wheel
that pip's own configuration finds locally; the ordinary build on macOS and where `nvidia-smi -L` works; the CPU index
TORCH_INDEX_URL (PyTorch's public one by default); the ordinary build, after a message with its size.
"""

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
PUBLIC_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
PIP = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-compile", "--no-deps"]


def pinned() -> str:
    """Return the one torch requirement of pyproject.toml, such as ``torch==2.13.0``."""
    models = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]["models"]
    return next(line for line in models if line.startswith("torch=="))


def is_installed(requirement: str) -> bool:
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return False
    return version.partition("+")[0] == requirement.removeprefix("torch==")


def succeeds(command: list[str], timeout_s: float | None = None) -> bool:
    """Return whether the command ended with status 0; its output is dropped."""
    try:
        done = subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def has_gpu() -> bool:
    nvidia_smi = shutil.which("nvidia-smi")
    return nvidia_smi is not None and succeeds([nvidia_smi, "-L"], timeout_s=30)


def install(requirement: str, *options: str) -> bool:
    return subprocess.run([*PIP, *options, requirement], check=False).returncode == 0


def choose_and_install(requirement: str) -> bool:
    if succeeds([*PIP, "--no-index", "--dry-run", requirement]):
        print(f"{requirement}: a local wheel is available", flush=True)
        return install(requirement, "--no-index")
    if platform.system() == "Darwin" or has_gpu():
        print(f"{requirement}: the ordinary build", flush=True)
        return install(requirement)
    index = os.environ.get("TORCH_INDEX_URL") or PUBLIC_CPU_INDEX
    print(f"{requirement}: the CPU build from {index} (about 200 MB)", flush=True)
    if install(requirement, "--index-url", index, "--retries", "2", "--timeout", "20"):
        return True
    print(
        f"{index} could not be used; set TORCH_INDEX_URL to an index with CPU builds to avoid the next download.\n"
        f"{requirement}: the ordinary build, a download of about 3 GB with its CUDA libraries, 7 GB on disk",
        flush=True,
    )
    return install(requirement)


def main() -> int:
    requirement = pinned()
    if is_installed(requirement) or choose_and_install(requirement):
        return 0
    print(
        f"{requirement} could not be installed: connect to a package index, or point pip at a local wheel "
        "(`find-links` in pip's configuration), then run make again",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
