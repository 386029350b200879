"""Paths that lead out of their folder: in media, in names of files that are sent, in copies, in exports."""

import hashlib
import json
import os
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings

from evaluation.scoring.run_request import checked_spec
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.export_formats.parts.folder import safe_name
from foilworks.core.corpus.video_files.ingest import find_media
from foilworks.core.projects.models import Project
from foilworks.core.text.errors import ActionableError
from foilworks.site.backup import database, folder
from foilworks.site.backup.errors import BackupError
from foilworks.site.imports.models import Import
from foilworks.site.imports.uploads import folder_of, keep_files
from generation.errors import GenerationError
from generation.model_paths import with_paths
from tests.attacks.guards import Guard, guarded_by, replaced
from tests.factories import make_member, make_project, make_video
from tests.test_architecture import PACKAGES, ROOT

SECRET = "the key of the house"


def anywhere(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Path, "is_relative_to", lambda self, other: True)


BELOW = Guard("pathlib.Path.is_relative_to", "targets of links and names must be inside the folder", anywhere)


def _both(patch: pytest.MonkeyPatch) -> None:
    anywhere(patch)
    patch.setattr("foilworks.core.corpus.video_files.ingest.stays_below", lambda name: True)


DOTS = Guard("foilworks.core.corpus.video_files.ingest.stays_below", "names of media cannot leave the folder", _both)
MINE = replaced(
    "generation.model_paths.may_use",
    "a project names only its own models and shared ones",
    lambda project_id, path: True,
)
SENT = replaced(
    "foilworks.site.imports.uploads.safe_name", "names of uploaded files cannot be paths", lambda name: name
)
STORAGE = replaced(
    "django.core.files.storage.filesystem.safe_join", "the storage opens nothing outside its folder", os.path.join
)
COPIES = replaced(
    "foilworks.site.backup.folder.is_inside", "a backup's manifest may name only files of the backup", lambda name: True
)
EXPORTS = Guard(
    "foilworks.core.corpus.export_formats.parts.folder.safe_name",
    "names of exported files have only safe characters",
    lambda patch: patch.setattr("tests.attacks.test_paths.safe_name", lambda text: text),
)


def found(folder: Path, name: str) -> Path | None:
    try:
        return find_media(folder, [name])
    except CorpusError:
        return None


@pytest.fixture
def media(tmp_path) -> Path:
    """A folder of media beside a secret."""
    (tmp_path / "secret.mp4").write_text(SECRET)
    (tmp_path / "media").mkdir()
    return tmp_path / "media"


@guarded_by(DOTS)
@pytest.mark.parametrize("name", ["../secret.mp4", "../media/../secret", "./../secret.mp4"])
def test_the_video_of_a_record_is_in_the_named_folder(media, name):
    assert found(media, name) is None


@guarded_by(BELOW)
def test_a_link_among_the_media_leads_nowhere(media):
    (media / "a.mp4").symlink_to(media.parent / "secret.mp4")
    assert found(media, "a.mp4") is None


@pytest.mark.django_db
@guarded_by(SENT)
@pytest.mark.parametrize("name", ["../../escaped.mp4", "../../../escaped.mp4"])
def test_a_sent_file_stays_in_its_folder(tmp_path, name):
    upload = Import.objects.create(project=make_project())
    sent = SimpleUploadedFile("x", b"sent")
    sent._name = name
    keep_files(upload, None, [sent])
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.parent for path in kept] == [folder_of(upload) / "videos"]


@pytest.mark.django_db
@guarded_by(STORAGE)
@pytest.mark.parametrize("name", ["../secret.mp4", "{root}/secret.mp4"])
def test_the_player_is_sent_no_file_from_elsewhere(client, media, name):
    project = make_project()
    video = make_video(project, file=name.format(root=media.parent))
    client.force_login(make_member(project, "researcher"))
    with override_settings(MEDIA_ROOT=media):
        answer = client.get(f"/projects/{project.slug}/videos/{video.pk}/media/")
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    assert SECRET.encode() not in content


@pytest.mark.django_db
@guarded_by(COPIES)
@pytest.mark.parametrize("name", ["../secret.mp4", "a/../../secret.mp4"])
def test_a_backup_that_names_files_elsewhere_is_not_restored(media, name):
    digest = hashlib.sha256(SECRET.encode()).hexdigest()
    (media / "a").mkdir()
    (media / database.file_name()).write_text(SECRET)
    manifest = {
        "kind": folder.KIND,
        "database": folder.connection.vendor,
        "migrations": [],
        "media": False,
        "created_at": "",
        "files": {database.file_name(): {"sha256": digest}, name: {"sha256": digest}},
    }
    (media / folder.MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(BackupError):
        folder.checked_manifest(media, folder._silent)


@guarded_by(EXPORTS)
@pytest.mark.parametrize("text", ["../../etc/cron.d/x", "/etc/passwd", "..", ".bashrc", "a\0b", "a/b"])
def test_a_file_of_an_export_stays_in_it(text):
    name = safe_name(text)
    assert "/" not in name
    assert "\0" not in name
    assert not name.startswith(".")


@guarded_by(MINE)
@pytest.mark.parametrize("spec", ["clip:/etc", "file:/etc/passwd", "clip:../../etc", "external:/bin/sh"])
def test_a_page_names_no_model_elsewhere(spec):
    refused = ""
    try:
        checked_spec(spec, Project(pk=1))
    except ActionableError as error:
        refused = str(error)
    assert "neither a model of this project nor a shared one" in refused


@guarded_by(MINE)
def test_a_run_from_a_page_reads_no_file_elsewhere():
    with pytest.raises(GenerationError, match="neither a model of this project"):
        with_paths({"vectors": "/etc/passwd"}, owner=Project(pk=1))


@guarded_by(MINE)
def test_a_run_from_a_page_uses_no_model_of_another_project():
    with pytest.raises(GenerationError, match="neither a model of this project"):
        with_paths({"model": f"{settings.MODEL_ROOT}/projects/2/taught/a"}, owner=Project(pk=1))


def test_no_archive_is_ever_unpacked():
    """What is not done needs no guard: archives are written for visitors, and none is taken."""
    unpacks = re.compile(r"\bextract(all)?\(|unpack_archive|\btarfile\b")
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    assert [path.name for path in files if unpacks.search(path.read_text(encoding="utf-8"))] == []
