"""The columns of a table on the page and in the command: without scripts, from a recipe, saved and used again."""

import json
import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from foilworks.core.corpus.models import Caption
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from foilworks.site.imports.models import Import
from foilworks.site.imports.recipes import saved_recipes
from tests.factories import make_member, make_project, make_video

pytestmark = pytest.mark.django_db

TABLE = "clip;says;lies\na.mp4;A man sits on a chair.;A man stands on a chair.\nb.mp4;A dog runs away.;A dog sleeps.\n"
YOUCOOK2 = {"database": {"Vid": {"subset": "training", "recipe_type": "113", "annotations": [
    {"segment": [90, 102], "id": 0, "sentence": "spread margarine on two slices of bread"}]}}}  # fmt: skip


@pytest.fixture
def project(settings, tmp_path):
    settings.UPLOAD_ROOT = tmp_path / "uploads"
    return make_project(slug="own")


@pytest.fixture
def owner(project) -> Client:
    client = Client()
    client.force_login(make_member(project, Role.RESEARCHER))
    return client


def upload(owner: Client, name: str, content: str | bytes, **fields: str) -> str:
    """The address of the page of its columns."""
    data = content.encode() if isinstance(content, str) else content
    sent = {"format": "auto", "records": SimpleUploadedFile(name, data), **fields}
    address = owner.post(reverse("imports:new_import", args=["own"]), sent).url
    run_now(Import.objects.latest("pk").job)
    return owner.get(address).url


def fields_of(owner: Client, address: str) -> dict[str, object]:
    return fields_of_page(owner.get(address))


def fields_of_page(page: HttpResponse) -> dict[str, object]:
    form = page.context["form"]
    found = {name: value for name in form.fields if (value := form[name].value()) not in (None, "", [], False)}
    # The menus were filled for this list.
    return {**found, "exploded": found.get("explode", "")}


def test_a_spreadsheet_is_a_table_whose_true_and_false_texts_are_filled_in(owner):
    path = Path(__file__).parents[1] / "corpus" / "strange_tables" / "s01c_gt_para_cf.xlsx"
    fields = fields_of(owner, upload(owner, path.name, path.read_bytes()))
    assert (fields["caption"], fields["texts"]) == ("gt", ["cf"])


def test_a_table_of_unknown_columns_is_mapped_without_scripts(owner, project):
    address = upload(owner, "own.csv", TABLE)
    fields = fields_of(owner, address)
    assert (fields["caption"], fields["video"]) == ("says", "clip")
    shown = owner.post(address, {**fields, "texts": ["lies"], "preview": "1"}).content.decode()
    assert "A man stands on a chair." in shown
    assert Import.objects.get().state == "mapping"
    sent = owner.post(address, {**fields, "texts": ["lies"], "name": "chairs", "use": "1"})
    assert sent.status_code == 302
    run_now(Import.objects.get().job)
    row = Import.objects.get()
    assert (row.state, row.preview["new"], row.preview["sample"][0]["foils"]) == (
        "ready",
        2,
        ["A man stands on a chair."],
    )
    assert saved_recipes(project)["chairs"]["columns"] == {"caption": "says", "video": "clip", "foils": ["lies"]}
    # The columns can be changed until the import is confirmed, and start as they were.
    assert fields_of(owner, address)["texts"] == ["lies"]
    owner.post(reverse("imports:confirm_import", args=["own", row.pk]))
    assert owner.get(address).status_code == 302


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"caption": ""}, "Choose the column with the caption."),
        ({"caption_template": "{says!r}"}, "is not a format"),
        ({"where_0": "says", "sign_0": ">", "value_0": "x"}, "is not a number"),
        ({"where_0": "says", "sign_0": "=", "value_0": "x"}, "No row becomes a record"),
        ({"start_time": "says"}, "is not a time"),
    ],
)
def test_what_is_wrong_with_the_columns_is_said_on_their_page(owner, project, change, said):
    address = upload(owner, "own.csv", TABLE)
    html = owner.post(address, {**fields_of(owner, address), **change, "preview": "1"}).content.decode()
    assert said in html
    assert Import.objects.get().state == "mapping"


def test_texts_without_telling_names_are_asked_for_with_one_click(owner, project):
    address = upload(
        owner, "own.csv", "clip,a,b\na.mp4,A man sits down.,A man sits up.\nb.mp4,Two dogs run.,A dog runs.\n"
    )
    html = owner.get(address).content.decode()
    assert re.findall(r'name="caption_is" value="(.+?)"', html) == ["a", "b"]
    fields = fields_of_page(owner.post(address, {"caption_is": "b", "explode": ""}))
    assert (fields["caption"], fields["texts"], fields["video"]) == ("b", ["a"], "clip")


def test_a_column_of_the_names_of_uploaded_videos_is_the_video(owner, project):
    for name in ("ball rolls", "kitchen"):
        make_video(project, key=name)
    # Without false texts, the columns are asked for.
    address = upload(owner, "own.csv", "what,seen\nBall rolls,A ball rolls left.\n")
    assert fields_of(owner, address)["video"] == "what"


def test_a_recipe_that_fits_is_offered_and_used(owner, project):
    address = upload(owner, "y.json", json.dumps(YOUCOOK2), format="table")
    assert '?recipe=youcook2"' in owner.get(address).content.decode().split('class="form')[0]
    html = owner.get(address, {"recipe": "crosstask"}).content.decode()
    assert "there is no column" in html
    owner.post(address, {**fields_of(owner, f"{address}?recipe=youcook2"), "recipe": "youcook2", "use": "1"})
    run_now(Import.objects.get().job)
    [row] = Import.objects.get().preview["sample"]
    assert (row["id"], row["clip"]) == ("Vid-0", "YouCook2/Vid@90-102")


def test_a_saved_recipe_fills_the_menus_of_the_next_table(owner, project):
    address = upload(owner, "own.csv", TABLE)
    chosen = {"texts": ["lies"], "where_0": "clip", "sign_0": "!=", "value_0": "b.mp4", "caption_template": "{says} Ok"}
    owner.post(address, {**fields_of(owner, address), **chosen, "name": "chairs", "use": "1"})
    again = upload(owner, "next.csv", TABLE)
    fields = fields_of(owner, f"{again}?recipe=chairs")
    assert {name: fields[name] for name in chosen} == chosen
    html = owner.get(again, {"recipe": "chairs"}).content.decode()
    assert "A man sits on a chair. Ok" in html
    assert "A dog runs away. Ok" not in html


def test_another_list_to_explode_fills_the_menus_again(owner, project):
    address = upload(owner, "y.json", json.dumps(YOUCOOK2), format="table")
    fields = fields_of(owner, address)
    assert fields["caption"] == "annotations.sentence"
    form = owner.post(address, {**fields, "explode": "", "preview": "1"}).context["form"]
    assert form["caption"].value() is None
    assert "annotations.*.sentence" in dict(form.fields["texts"].choices)


def test_a_recipe_beyond_the_menus_is_used_as_it_is(owner, project):
    address = upload(owner, "own.csv", "video,question,answer,qid,type,a0,a1,a2,a3,a4\n7,why,1,6,CW,a,b,c,d,e\n")
    response = owner.get(address, {"recipe": "nextqa"})
    assert response.context["form"] is None
    assert "Q: why A: b" in response.content.decode()
    owner.post(address, {"recipe": "nextqa", "use": "1"})
    run_now(Import.objects.get().job)
    assert Import.objects.get().preview["sample"][0]["id"] == "7_6"


def test_a_file_that_cannot_be_read_says_so(owner, project):
    sent = {"format": "table", "records": SimpleUploadedFile("x.json", b'{"a": ')}
    address = owner.post(reverse("imports:new_import", args=["own"]), sent).url
    run_now(Import.objects.get().job)
    assert "These files cannot be imported." in owner.get(address).content.decode()


def test_the_command_saves_a_recipe_and_uses_it_again(project, tmp_path, capsys):
    (tmp_path / "own.csv").write_text(TABLE)
    columns = ["--column", "caption=says", "--column", "source_id={clip:stem}", "--set", "source_dataset=Own"]
    command = ["import", "table", str(tmp_path / "own.csv"), "--project", "own"]
    call_command(*command, *columns, "--where", "clip!=b.mp4", "--save-recipe", "mine")
    assert [caption.video.key for caption in Caption.objects.all()] == ["Own/a"]
    capsys.readouterr()
    call_command(*command, "--recipe", "mine", "--json")
    assert json.loads(capsys.readouterr().out)["same"] == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--recipe", "coim"], "did you mean 'coin'?"),
        (["--column", "caption"], "write it as FIELD="),
        (["--column", "video=clip"], "caption is missing"),
    ],
)
def test_the_command_says_what_is_wrong_with_the_columns(project, tmp_path, capsys, options, said):
    (tmp_path / "own.csv").write_text(TABLE)
    with pytest.raises(SystemExit):
        call_command("import", "table", str(tmp_path / "own.csv"), "--project", "own", *options)
    assert said in capsys.readouterr().err


def test_only_the_format_table_takes_columns(project, tmp_path, capsys):
    with pytest.raises(SystemExit):
        call_command("import", "csv", str(tmp_path / "own.csv"), "--project", "own", "--column", "caption=says")
    assert "only the format table takes it" in capsys.readouterr().err
