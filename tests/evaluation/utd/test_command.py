"""`foilworks utd` from descriptions to files, and what it says of what is missing."""

import json

import pytest
from django.core.management import CommandError, call_command

from evaluation.utd.models import BiasRun, Descriptions
from foilworks.core.corpus.models import MediaState, Video
from tests import factories
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
        (("bias",), "--project is missing"),
        (("bias", "--descriptions", "7"), "id 7 not found"),
        (("describe", "--project", "nowhere"), "project 'nowhere' not found"),
    ],
)
def test_one_line_names_what_is_missing(capsys, arguments, problem):
    with pytest.raises(SystemExit) as end:
        call_command("utd", *arguments)
    assert end.value.code == 1
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [("split",), ("describe",), ("train", "--run", "1"), ("bias", "--run", "1"), ()])
def test_a_subcommand_names_the_options_that_it_needs(arguments):
    with pytest.raises(CommandError, match=r"required|unrecognized"):
        call_command("utd", *arguments)


def test_choices_of_the_procedure_are_checked(capsys, tmp_path):
    _, descriptions = texts.described("things", tmp_path)
    bias = ("bias", "--descriptions", descriptions.pk, "--encoder", "fake-words:")
    assert "'ties' is 'lucky'; give one of: wrong, share" in refused(capsys, *bias, "--set", "ties=lucky")
    assert "utd bias has no parameter 'tie'; it takes: texts" in refused(capsys, *bias, "--set", "tie=share")
    utd(capsys, *bias, "--set", "ties=share", "--set", "c=2", "--set", "max_reading=oracle")
    params = BiasRun.objects.get().params
    assert [params[name] for name in ("ties", "c", "max_reading", "texts")] == ["share", 2.0, "oracle", "published"]


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


def refused(capsys, *arguments):
    with pytest.raises(SystemExit):
        call_command("utd", *map(str, arguments))
    return capsys.readouterr().err


def test_videos_without_files_are_not_described_and_the_ways_out_are_named(capsys):
    project = factories.make_project(slug="mine")
    assert "mine has no videos; import some" in refused(capsys, "describe", "--project", "mine")
    for place in range(2):
        factories.make_video(project, key=f"{place}.mp4", media_state=MediaState.MISSING, file="", split="train")
    said = refused(capsys, "describe", "--project", "mine")
    assert "none of the 2 videos has a file yet" in said
    assert "`foilworks attach --project mine --media DIR`" in said
    assert "`foilworks utd import --project mine --file FILE`" in said
    assert "has no videos of the split test" in refused(capsys, "describe", "--project", "mine", "--split", "test")
    assert not Descriptions.objects.exists()


def test_a_project_without_descriptions_names_the_commands_that_make_some(capsys):
    factories.make_project(slug="mine")
    said = refused(capsys, "bias", "--project", "mine")
    assert "mine has no descriptions yet" in said
    assert "`foilworks utd describe --project mine --sync`" in said


def test_the_newest_descriptions_of_a_project_are_measured_and_the_tables_are_printed(capsys, tmp_path):
    project, told = texts.described("things", tmp_path)
    Descriptions.objects.create(project=project, name="empty", describer="x", params=told.params)
    call_command("utd", "bias", "--project", "things", "--encoder", "fake-words:", "--sync")
    out = capsys.readouterr().out
    run = BiasRun.objects.get()
    assert run.descriptions == told
    for row in (
        "common sense bias: accuracy in %",
        "dataset bias: accuracy in %",
        "object-biased: ",
        "verbs, sequence:",
    ):
        assert row in out
    assert out.endswith(f"next: `foilworks utd export --run {run.pk} --out DIR`\n")
    call_command("utd", "results", "--run", str(run.pk))
    assert capsys.readouterr().out == out


def test_a_run_without_a_result_is_not_exported(capsys, tmp_path):
    _, told = texts.described("things", tmp_path)
    call_command("utd", "bias", "--descriptions", str(told.pk), "--encoder", "fake-words:")
    run = BiasRun.objects.get()
    assert f"when it is done: `foilworks utd results --run {run.pk}`" in capsys.readouterr().out
    said = refused(capsys, "export", "--run", run.pk, "--out", tmp_path / "out")
    assert f"run {run.pk} has no result yet: its job is waiting" in said
    run.job.state, run.job.error = "failed", "no such encoder"
    run.job.save()
    said = refused(capsys, "export", "--run", run.pk, "--out", tmp_path / "out")
    assert f"no such encoder; correct this, then measure again: `foilworks utd bias --descriptions {told.pk}" in said
    assert not (tmp_path / "out").exists()


def test_what_lacks_for_samples_is_named(capsys, tmp_path):
    project, _ = texts.described("things", tmp_path)
    Video.objects.filter(project=project).update(split="train")
    sync = ("bias", "--project", "things", "--encoder", "fake-words:", "--sync")
    assert "described videos with a class_label are in the train split" in refused(capsys, *sync)
    Video.objects.filter(project=project).update(class_label="")
    assert "no video has a class_label" in refused(capsys, *sync)


def test_texts_that_say_nothing_leave_out_only_their_own_cells(capsys, tmp_path):
    _, told = texts.described("things", tmp_path)
    for frame in told.frames.all():
        frame.raw |= {"activities": "No activity is visible.", "verbs": "No activity is visible."}
        frame.save()
    call_command("utd", "bias", "--descriptions", str(told.pk), "--encoder", "fake-words:", "--sync")
    rows = {row["concept"]: row["cells"] for row in BiasRun.objects.get().result["dataset"]}
    assert rows["verbs"][-1]["value"] is None
    assert rows["objects"][0]["value"] is not None
    assert capsys.readouterr().err == ""


def test_descriptions_of_other_videos_are_refused_with_a_name_of_each_side(capsys, tmp_path):
    texts.described("things", tmp_path)
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"zzz": {"objects": ["a cup"]}}))
    said = refused(capsys, "import", "--project", "things", "--file", path)
    assert "They have 'zzz', and the project has '" in said


def test_missing_texts_are_one_line_of_the_results(capsys, tmp_path):
    _, told = texts.described("things", tmp_path)
    for frame in told.frames.all():
        frame.raw = {"objects": frame.raw["objects"]}
        frame.save()
    call_command("utd", "bias", "--descriptions", str(told.pk), "--encoder", "fake-words:", "--sync")
    out = capsys.readouterr().out
    assert "texts are missing: obj+comp+act (12 of 12 train, 12 of 12 test); activities (12 of 12 train" in out
    assert "without them" not in out
