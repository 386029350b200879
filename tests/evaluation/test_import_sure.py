"""A table whose contents leave nothing to decide is previewed at once."""

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from foilworks.core.jobs.runner import run_now
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import Role
from foilworks.site.imports.models import Import
from tests.factories import make_member, make_project
from tests.media.painted import painted_clip
from tests.rows import for_each

pytestmark = pytest.mark.django_db
STRANGE = Path(__file__).parents[1] / "corpus" / "strange_tables"
TRUTH = json.loads((STRANGE / "truth.json").read_text(encoding="utf-8"))
TABLE = """Filename;What happens;Wrong version;Wrong version 2;Notes
ball rolls.mp4;A red ball rolls to the right.;A red ball rolls to the left.;A blue ball rolls to the right.;ok
grow.mkv;A purple square grows.;A purple square shrinks.;A purple circle grows.;check
"""


@pytest.fixture
def sent(settings, tmp_path):
    settings.UPLOAD_ROOT = tmp_path / "uploads"
    client = Client()
    client.force_login(make_member(make_project(slug="dots"), Role.RESEARCHER))
    write_mp4(tmp_path / "clip.mp4", painted_clip(6), 12.0)

    def send(table: str, *clips: str) -> tuple[Import, Client]:
        clip = (tmp_path / "clip.mp4").read_bytes()
        files = [SimpleUploadedFile("t.csv", table.encode()), *(SimpleUploadedFile(name, clip) for name in clips)]
        client.post(reverse("imports:new_import", args=["dots"]), {"format": "auto", "videos": files})
        upload = Import.objects.get()
        run_now(upload.job)
        upload.refresh_from_db()
        return upload, client

    return send


def test_a_table_beside_its_clips_is_previewed_at_once(sent):
    upload, client = sent(TABLE, "ball rolls.mp4", "grow.mkv")
    assert upload.state == "ready"
    assert upload.preview["new"] == 2
    page = client.get(reverse("imports:import", args=["dots", upload.pk])).content.decode()
    assert "Wrong version, Wrong version 2" in page
    columns = reverse("imports:import_columns", args=["dots", upload.pk])
    assert columns in page
    form = client.get(columns).context["form"]
    assert form["caption"].value() == "What happens"
    assert form["keep"].value() is True


@pytest.mark.parametrize(
    ("table", "clips"),
    [
        # Nothing shows that the first column names the clips.
        (TABLE, ()),
        # Nothing shows which text is true.
        ("file;a;b\nx.mp4;A dog runs up.;A dog runs down.\n", ("x.mp4",)),
        # Captions alone can be what a person wants, or foils that no name shows.
        ("file;text;remark\nx.mp4;A dog runs up.;fine\n", ("x.mp4",)),
    ],
)
def test_a_person_is_asked_about_open_choices(sent, table, clips):
    upload, _client = sent(table, *clips)
    assert upload.state == "mapping"


def _same(text: object) -> str:
    return " ".join(str(text).split()).casefold().rstrip(".")


@pytest.mark.full
@for_each("name", sorted(TRUTH))
def test_the_page_takes_no_false_text_for_a_caption(name, settings, tmp_path_factory):
    """Of each strange table, uploaded on the page: what it previews, or what it fills in before it asks."""
    settings.UPLOAD_ROOT = tmp_path_factory.mktemp("uploads")
    project = make_project()
    client = Client()
    client.force_login(make_member(project, Role.RESEARCHER))
    file = SimpleUploadedFile(name, (STRANGE / name).read_bytes())
    client.post(reverse("imports:new_import", args=[project.slug]), {"format": "auto", "videos": [file]})
    upload = Import.objects.filter(project=project).first()
    if upload is None:
        # A text beside nothing is asked for its format.
        return
    run_now(upload.job)
    upload.refresh_from_db()
    false_texts = {_same(text) for text in TRUTH[name]["false"]}
    shown = upload.preview.get("sample", [])
    assert not {_same(row["caption"]) for row in shown[:1]} & false_texts or TRUTH[name]["form"] != "pairs"
    if upload.state == "mapping":
        form = client.get(reverse("imports:import_columns", args=[project.slug, upload.pk])).context["form"]
        column = form["caption"].value() if form is not None else ""
        row = upload.preview["table"]["rows"][0]
        if column and TRUTH[name]["form"] == "pairs":
            assert _same(row.get(column)) not in false_texts
        if column and TRUTH[name]["form"] == "labels":
            assert form["where_0"].value()
