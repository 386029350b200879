"""Large videos go to an object store by signed addresses of their parts; a real server takes them."""

import base64
from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from foilworks.site.imports import declarations
from foilworks.site.imports.actions.discard_stale_imports import remove_partial_uploads
from foilworks.site.imports.models import Import
from foilworks.site.imports.object_parts import PREFIX
from tests.factories import make_member, make_project
from tests.object_store import Store, running_store

pytestmark = pytest.mark.django_db
PART_BYTES = declarations.FILE_PARTS.part_bytes
SIZE = PART_BYTES + 3


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Iterator[Store]:
    with running_store(tmp_path_factory.mktemp("store") / "buckets") as running:
        yield running


@pytest.fixture(autouse=True)
def stored(settings, tmp_path, store) -> None:
    settings.UPLOAD_ROOT = tmp_path / "uploads"
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "uploads" / "arriving"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir(parents=True)
    backend = {"BACKEND": "foilworks.core.corpus.video_files.object_store.ObjectStore", "OPTIONS": store.options}
    settings.STORAGES = {**settings.STORAGES, "default": backend}


@pytest.fixture
def project():
    return make_project(slug="dots")


def researcher_of(project) -> Client:
    client = Client()
    client.force_login(make_member(project, Role.RESEARCHER))
    return client


def announce(client: Client, name: str, size: int):
    headers = {"Upload-Length": str(size), "Upload-Metadata": f"filename {base64.b64encode(name.encode()).decode()}"}
    return client.generic("POST", reverse("imports:new_file", args=["dots"]), b"", "text/plain", headers=headers)


def put(client: Client, address: str, offset: int, body: bytes) -> int:
    return httpx.put(client.get(f"{address}?offset={offset}").content.decode(), content=body).status_code


def test_parts_go_to_the_store_and_a_worker_fetches_the_file(project):
    client = researcher_of(project)
    address = announce(client, "film.mp4", SIZE)["Location"]
    assert "/imports/objects/" in address
    assert client.head(address)["Upload-Offset"] == "0"
    assert put(client, address, 0, b"a" * PART_BYTES) == 200
    assert (client.head(address)["Upload-Offset"], client.head(address)["Upload-Length"]) == (
        str(PART_BYTES),
        str(SIZE),
    )
    arrived = {"format": "auto", "arrived": address.split("/")[-2]}
    early = client.post(reverse("imports:new_import", args=["dots"]), arrived)
    assert "film.mp4: the upload is incomplete" in early.content.decode()
    assert client.get(f"{address}?offset={SIZE}").status_code == 400
    assert put(client, address, PART_BYTES, b"end") == 200
    assert client.post(reverse("imports:new_import", args=["dots"]), arrived).status_code == 302
    # The name is kept; the bytes are not here until a worker needs them.
    assert client.head(address)["Upload-Offset"] == str(SIZE)
    upload = Import.objects.get()
    run_now(upload.job)
    upload.refresh_from_db()
    assert [(row["file"], row["what"]) for row in upload.preview["videos"]] == [("film.mp4", "broken")]
    assert default_storage.listdir(PREFIX)[1] == []


def test_a_part_is_as_long_as_its_address_says(project):
    client = researcher_of(project)
    address = announce(client, "film.mp4", SIZE)["Location"]
    assert put(client, address, PART_BYTES, b"more than the three bytes") == 403


def test_an_upload_is_that_of_its_sender_alone_and_can_be_removed(project):
    client = researcher_of(project)
    address = announce(client, "film.mp4", SIZE)["Location"]
    other = researcher_of(project)
    assert [other.head(address).status_code, other.get(f"{address}?offset=0").status_code] == [404, 404]
    assert client.delete(address).status_code == 204
    assert client.head(address).status_code == 404


def test_tables_and_small_videos_come_to_the_server(project):
    client = researcher_of(project)
    for name, size in (("records.csv", SIZE), ("clip.mp4", PART_BYTES), ("clips.zip", SIZE)):
        assert "/imports/files/" in announce(client, name, size)["Location"], name


def test_forgotten_uploads_are_removed_from_the_store(project):
    client = researcher_of(project)
    address = announce(client, "film.mp4", SIZE)["Location"]
    assert put(client, address, 0, b"a" * PART_BYTES) == 200
    assert remove_partial_uploads() == 0
    assert remove_partial_uploads(now=timezone.now() + timedelta(hours=25)) >= 1
    assert client.head(address).status_code == 404
