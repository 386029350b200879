"""`foilworks utd` from descriptions to files, and what it says of what is missing."""

import json

import pytest
from django.core.management import call_command

from evaluation.utd.models import BiasRun, Descriptions
from tests.evaluation.utd import texts

pytestmark = pytest.mark.django_db


def utd(capsys, *arguments):
    call_command("utd", *map(str, arguments), "--json")
    return json.loads(capsys.readouterr().out)


def test_from_descriptions_to_files_and_back(capsys, tmp_path):
    _, told = texts.described("things", tmp_path)
    found = utd(capsys, "bias", "--descriptions", told.pk, "--encoder", "fake-words:", "--sync")
    assert found["state"] == "done"
    assert found["result"]["n"] == 12
    ids = BiasRun.objects.get().predictions["ids"]
    path = tmp_path / "coin.csv"
    path.write_text("sample,class,correct\n" + "".join(f"{name},,{at % 2}\n" for at, name in enumerate(ids)))
    board = utd(capsys, "benchmark", "--run", found["run"], "--file", path)
    assert board["models"][0]["cells"]["full"]["value"] == 0.5
    out = tmp_path / "out"
    files = utd(capsys, "export", "--run", found["run"], "--out", out)["files"]
    assert {path.name for path in out.iterdir()} == set(files)
    assert {"splits.json", "predictions.csv", "descriptions.json", "objects.jsonl"} <= set(files)
    again = utd(capsys, "import", "--project", "things", "--file", out / "descriptions.json", "--name", "again")
    ours, theirs = (
        list(Descriptions.objects.get(pk=pk).frames.values_list("video", "place", "raw"))
        for pk in (told.pk, again["descriptions"])
    )
    assert ours == theirs
    split = utd(capsys, "split", "--predictions", out / "predictions.csv")
    assert split["removed"] == found["result"]["split"]["removed"]
    brought = utd(capsys, "bring", "--project", "things", "--file", out / "splits.json")
    assert brought["split"]["removed"] == split["removed"]
    line = json.loads((out / "objects.jsonl").read_text().splitlines()[0])
    assert line["objects"] == ["cup", "mirror"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("bias",), "--descriptions is missing"),
        (("bias", "--descriptions", "7"), "id 7 not found"),
        (("split",), "--predictions is missing"),
        (("describe", "--project", "nowhere"), "there is no project"),
    ],
)
def test_one_line_names_what_is_missing(capsys, arguments, problem):
    with pytest.raises(SystemExit) as end:
        call_command("utd", *arguments)
    assert end.value.code == 1
    assert problem in capsys.readouterr().err


def test_its_files_are_imported_like_all_formats_and_only_once(capsys, tmp_path):
    _, told = texts.described("things", tmp_path)
    utd(capsys, "bias", "--descriptions", told.pk, "--encoder", "fake-words:", "--sync")
    out = tmp_path / "out"
    utd(capsys, "export", "--run", BiasRun.objects.get().pk, "--out", out)
    told = out / "descriptions.json"
    told.write_text(json.dumps(json.loads(told.read_text()), indent=1))  # other bytes: another file
    for name, table in (("descriptions.json", Descriptions), ("splits.json", BiasRun), ("predictions.csv", BiasRun)):
        before = table.objects.count()
        for extra, new, stored in ((["--dry-run"], 1, 0), ([], 1, 1), ([], 0, 1)):
            call_command("import", "utd", str(out / name), "--project", "things", "--json", *extra)
            told = json.loads(capsys.readouterr().out)
            assert (told["new"], told["same"]) == (new, 1 - new), name
            assert table.objects.count() == before + stored
    for name, text, words in (
        ("x.pickle", "", "a pickle can run a program"),
        ("x.json", "{", "JSON: "),
        ("x.csv", "a,b\n", "header: has no columns sample, correct_1; give predictions, or JSON"),
        ("x.json", '{"strange": {"objects": ["a"]}}', "The files name no video of this project"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(SystemExit):
            call_command("import", "utd", str(tmp_path / name), "--project", "things")
        assert words in capsys.readouterr().err
