"""Files of an import arrive in parts: by tus, whole or not at all, for their sender only."""

import base64
import fcntl
import io
import os
import zipfile
from datetime import timedelta

import pytest
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone

from foilworks.core.projects.models import Role
from foilworks.site.imports.actions.discard_stale_imports import remove_partial_uploads
from foilworks.site.imports.declarations import FILE_PARTS
from foilworks.site.imports.file_parts import announce, arriving_file
from foilworks.site.imports.models import Import
from foilworks.site.imports.uploads import records_path, videos_folder
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db
PART = "application/offset+octet-stream"
TABLE = b"id,video,caption\n1,a.mp4,A dog runs.\n"


@pytest.fixture(autouse=True)
def folders(settings, tmp_path):
    settings.UPLOAD_ROOT = tmp_path / "uploads"
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "uploads" / "arriving"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir(parents=True)


@pytest.fixture
def project():
    return make_project(slug="dots")


@pytest.fixture
def client(project) -> Client:
    client = Client()
    client.force_login(make_member(project, Role.RESEARCHER))
    return client


def create(client: Client, name: str, size: int | str, body: bytes = b""):
    metadata = f"filename {base64.b64encode(name.encode()).decode()}, filetype dmlkZW8vbXA0"
    headers = {"Upload-Length": str(size), "Upload-Metadata": metadata}
    kind = PART if body else "text/plain"
    return client.generic("POST", reverse("imports:new_file", args=["dots"]), body, kind, headers=headers)


def send(client: Client, address: str, offset: int | str, body: bytes, kind: str = PART):
    return client.generic("PATCH", address, body, kind, headers={"Upload-Offset": str(offset)})


def token_of(answer) -> str:
    return answer["Location"].split("/")[-2]


def test_parts_become_the_file(client, project):
    created = create(client, "a clip.mp4", 10)
    assert (created.status_code, created["Upload-Offset"], created["Tus-Resumable"]) == (201, "0", "1.0.0")
    address = created["Location"]
    assert send(client, address, 0, b"01234")["Upload-Offset"] == "5"
    state = client.head(address)
    assert (state["Upload-Offset"], state["Upload-Length"]) == ("5", "10")
    early = client.post(reverse("imports:new_import", args=["dots"]), {"format": "auto", "arrived": token_of(created)})
    assert early.status_code == 400
    assert "a clip.mp4: the upload is incomplete" in early.content.decode()
    assert send(client, address, 5, b"56789")["Upload-Offset"] == "10"
    answer = client.post(reverse("imports:new_import", args=["dots"]), {"format": "auto", "arrived": token_of(created)})
    assert answer.status_code == 302
    upload = Import.objects.get()
    assert (upload.n_videos, upload.format) == (1, "")
    assert (videos_folder(upload) / "a clip.mp4").read_bytes() == b"0123456789"
    assert client.head(address).status_code == 404


def test_a_small_file_arrives_with_its_announcement_and_shows_its_format(client):
    created = create(client, "rows.csv", len(TABLE), TABLE)
    assert created["Upload-Offset"] == str(len(TABLE))
    client.post(reverse("imports:new_import", args=["dots"]), {"format": "auto", "arrived": token_of(created)})
    upload = Import.objects.get()
    assert (upload.format, upload.file_name) == ("csv", "rows.csv")
    assert records_path(upload).read_bytes() == TABLE


def test_an_archive_in_parts_is_unpacked(client):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("rows.csv", TABLE)
        zipped.writestr("a.mp4", b"clip")
    created = create(client, "all.zip", len(archive.getvalue()), archive.getvalue())
    client.post(reverse("imports:new_import", args=["dots"]), {"format": "auto", "arrived": token_of(created)})
    upload = Import.objects.get()
    assert (upload.format, upload.n_videos) == ("csv", 1)


def test_a_form_with_a_mistake_keeps_the_files(client):
    tokens = [token_of(create(client, name, len(TABLE), TABLE)) for name in ("a.csv", "b.csv")]
    address = reverse("imports:new_import", args=["dots"])
    assert client.post(address, {"format": "auto", "arrived": " ".join(tokens)}).status_code == 422
    assert client.post(address, {"format": "auto", "arrived": tokens[1]}).status_code == 302


@pytest.mark.parametrize(
    ("offset", "body", "kind", "status"),
    [
        (3, b"01", PART, 409),
        (0, b"012345678901", PART, 413),
        (0, b"01", "text/plain", 415),
        ("x", b"01", PART, 415),
        ("٣", b"01", PART, 415),
    ],
)
def test_a_part_that_does_not_fit_is_refused(client, offset, body, kind, status):
    address = create(client, "a.mp4", 10)["Location"]
    answer = send(client, address, offset, body, kind)
    assert answer.status_code == status
    assert answer.content
    assert client.head(address)["Upload-Offset"] == "0"


def test_two_writers_do_not_mix(client, project):
    created = create(client, "a.mp4", 10)
    file = arriving_file(project.memberships.get().person, project, token_of(created))
    with file.path.open("r+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert send(client, created["Location"], 0, b"01").status_code == 409
    assert send(client, created["Location"], 0, b"01").status_code == 204


def test_a_connection_that_ends_leaves_what_arrived(client, project):
    class Cut(io.BytesIO):
        def read(self, size: int = -1) -> bytes:
            if self.tell():
                raise OSError("the connection ended")
            return super().read(4)

    address = create(client, "a.mp4", 10)["Location"]
    request = {"wsgi.input": Cut(b"0123456789"), "HTTP_UPLOAD_OFFSET": "0"}
    assert client.generic("PATCH", address, b"0123456789", PART, **request).status_code == 503
    assert client.head(address)["Upload-Offset"] == "4"


@pytest.mark.parametrize(("name", "size"), [("a.mp4", "-1"), ("a.mp4", "x"), ("", 5)])
def test_an_announcement_without_name_or_size_is_refused(client, name, size):
    assert create(client, name, size).status_code == 400


def test_files_over_the_limit_are_refused_before_a_byte(client):
    with override_settings(UPLOAD_MAX_BYTES=1024):
        refused = create(client, "a.mp4", 1025)
        tokens = " ".join(token_of(create(client, "a.mp4", 600, b"a" * 600)) for _ in range(2))
        answer = client.post(reverse("imports:new_import", args=["dots"]), {"format": "auto", "arrived": tokens})
    assert refused.status_code == 413
    assert "a.mp4 has more than" in refused.content.decode()
    assert answer.status_code == 400
    assert "in total" in answer.content.decode()


def test_an_address_counts_for_its_sender_and_project_only(client, project):
    created = create(client, "a.mp4", 10)
    colleague = Client()
    colleague.force_login(make_member(project, Role.RESEARCHER, name="colleague"))
    assert colleague.head(created["Location"]).status_code == 404
    other = make_project(slug="other")
    member = project.memberships.first().person
    other.memberships.create(person=member, role=Role.RESEARCHER)
    assert client.head(created["Location"].replace("dots", "other")).status_code == 404
    assert client.head(reverse("imports:file", args=["dots", "made-up"])).status_code == 404
    assert client.delete(created["Location"]).status_code == 204
    assert client.head(created["Location"]).status_code == 404


def test_a_file_that_nobody_continues_is_removed_after_its_hours(client, project):
    person = project.memberships.get().person
    old, new = (announce(person, project, name, 5) for name in ("old.mp4", "new.mp4"))
    before = (timezone.now() - timedelta(hours=FILE_PARTS.hours, minutes=1)).timestamp()
    os.utime(old.path, (before, before))
    assert remove_partial_uploads() == 1
    assert (old.path.exists(), new.path.exists()) == (False, True)
    answer = client.post(reverse("imports:new_import", args=["dots"]), {"format": "auto", "arrived": old.token})
    assert "was removed after a day" in answer.content.decode()


def test_the_page_names_the_declared_size_of_a_part(client):
    page = client.get(reverse("imports:new_import", args=["dots"])).content.decode()
    assert f'data-part-bytes="{FILE_PARTS.part_bytes}"' in page
    # A part passes every front and every page: it needs no limit of its own.
    assert FILE_PARTS.part_bytes < 32 * 1024**2
