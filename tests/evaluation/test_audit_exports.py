"""`foilworks audit` of what `foilworks export` wrote: folders of each format, and the archive of a public page."""

import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from evaluation.audit.audit import Options, audit, sources_of
from evaluation.audit.file_reader import Problems, read_all
from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.import_formats.parsing.text_files import Source
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def export(tmp_path):
    """Return a function that exports a release of two items; a third one is not released."""
    subtest = factories.make_subtest(factories.make_project(slug="doors", blind_bar=1.0))
    for verb, state in (("opens", "valid"), ("paints", "valid"), ("locks", "invalid")):
        video = factories.make_video(subtest.project, key=verb, source_id=verb, source_dataset="own")
        caption = factories.make_caption(video, f"she {verb} a door")
        factories.make_item(subtest, caption, (f"he {verb} a door",), key=verb, state=state)
    release = freeze_release(None, subtest.project)

    def write(form):
        out = tmp_path / form
        call_command("export", form, "--project", "doors", "--release", str(release.pk), "--out", str(out))
        return out

    return write


def right_texts(path):
    return {record.right for one in sources_of(Source(path)) for record in read_all([one], Problems())}


@pytest.mark.parametrize("form", ["foilworks", "jsonl", "csv", "vilma", "contrast", "hf", "hub"])
def test_the_released_items_of_each_format_are_audited(form, export):
    assert right_texts(export(form)) == {"she opens a door", "she paints a door"}


def test_an_archive_is_read_like_its_folder(export, tmp_path):
    folder, packed = export("foilworks"), tmp_path / "doors.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(path, f"doors-1/{path.relative_to(folder)}")
    assert right_texts(packed) == right_texts(folder)
    sent = Client().post(reverse("audit"), {"file": SimpleUploadedFile("doors.zip", packed.read_bytes())})
    assert "doors.zip (foilworks)" in sent.content.decode()
    (about,) = audit(sources_of(Source(packed)), Options())["files"]
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert (about["name"], about["manifest"]) == ("doors.zip", manifest["manifest_sha256"])


def test_an_export_without_items_says_what_to_export(export):
    with pytest.raises(EvaluationError, match="format votes, which has no files to audit; export the release with"):
        sources_of(Source(export("votes")))


@pytest.mark.parametrize("field", [{"id": None}, {"caption": 5}, {"foils": [1]}, {"video": {}}, {"facts": 5}])
def test_a_changed_item_is_one_clear_error(export, field):
    folder = export("foilworks")
    first = json.loads((folder / "items.jsonl").read_text(encoding="utf-8").splitlines()[0])
    (folder / "items.jsonl").write_text(json.dumps({**first, "released": True, **field}) + "\n", encoding="utf-8")
    with pytest.raises(EvaluationError, match=r"items\.jsonl:1: is not an item of an export"):
        right_texts(folder)


def test_an_archive_of_something_else_is_read_as_the_file_that_it_is(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("manifest.json", "{}")
    assert sources_of(Source(tmp_path / "x.zip")) == [Source(tmp_path / "x.zip")]
