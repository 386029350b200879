"""STORAGE_URL and MEDIA_HOSTS, read in a process of their own as at a start: what is stored where, who may be asked."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
CODE = """
import json
from foilworks.site import settings
policy = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
print(json.dumps([settings.STORAGES["default"], str(settings.MEDIA_ROOT), policy["media-src"], policy["img-src"]]))
"""


def read(home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {**os.environ, "FOILWORKS_HOME": str(home), **environment}
    return subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, env=own, capture_output=True, text=True, check=False)


def test_a_bucket_its_keys_and_the_policy_of_the_pages(tmp_path):
    done = read(
        tmp_path,
        STORAGE_URL="s3://clips/lab/a?endpoint=http://store:9000&public=https://media.example.org&region=eu",
        AWS_ACCESS_KEY_ID="id",
        AWS_SECRET_ACCESS_KEY="secret",
        MEDIA_URL_SECONDS="60",
        MEDIA_HOSTS="cdn.example.org, Films.example.net:8443",
    )
    storage, _, media, pictures = json.loads(done.stdout)
    assert storage == {
        "BACKEND": "foilworks.core.corpus.video_files.object_store.ObjectStore",
        "OPTIONS": {
            "bucket_name": "clips",
            "location": "lab/a",
            "endpoint_url": "http://store:9000",
            "public_url": "https://media.example.org",
            "region_name": "eu",
            "addressing_style": "path",
            "access_key": "id",
            "secret_key": "secret",
            "querystring_expire": 60,
        },
    }
    elsewhere = ["https://cdn.example.org", "https://films.example.net:8443"]
    assert media == ["'self'", "https://media.example.org", *elsewhere]
    assert pictures == ["'self'", "data:", "https://media.example.org"]


def test_addresses_of_amazon_need_only_the_bucket(tmp_path):
    storage, _, media, _ = json.loads(read(tmp_path, STORAGE_URL="s3://clips?region=eu-central-1").stdout)
    assert storage["OPTIONS"]["endpoint_url"] == "https://s3.eu-central-1.amazonaws.com"
    assert media == ["'self'", "https://clips.s3.eu-central-1.amazonaws.com"]


def test_a_folder_store_allows_no_other_video_host(tmp_path):
    storage, folder, media, _ = json.loads(read(tmp_path, STORAGE_URL=f"file://{tmp_path}/shared").stdout)
    assert (storage["BACKEND"].rpartition(".")[2], folder) == ("FileSystemStorage", f"{tmp_path}/shared")
    assert media == ["'self'"]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://host/x", "STORAGE_URL does not name a store; write it as file:///"),
        ("s3://", "it names no bucket"),
        ("s3://key:secret@clips", "it names no bucket"),
        ("s3://clips?endpoint=store:9000", "'store:9000' is not an address"),
        ("s3://clips?public=javascript:alert(1)", "is not an address"),
        ("s3://clips?secret=abc", "'secret' is not an option"),
        ("s3://clips?style=odd", "a style other than path and virtual"),
    ],
)
def test_a_wrong_storage_address_is_named_at_the_start(tmp_path, url, message):
    done = read(tmp_path, STORAGE_URL=url)
    assert done.returncode == 1
    assert message in done.stderr
