"""`generate --recipe` on a real database, and `caption`: from sources to captions that a project takes."""

import json

import pytest
from django.core.management import CommandError, call_command

from foilworks.core.corpus.models import Caption
from generation.models import GenerationRun
from tests.factories import make_caption, make_project, make_subtest, make_video


@pytest.fixture
def project(db):
    project = make_project()
    make_subtest(project, name="s")
    return project


def generate(project, capsys, **options):
    call_command("generate", project=project.slug, sync=True, as_json=True, **options)
    result = json.loads(capsys.readouterr().out)
    return result, GenerationRun.objects.get(pk=result["run"])


def test_a_recipe_sets_method_parameters_and_filters(project, capsys):
    make_caption(make_video(project), "Someone folds the paper.")
    make_caption(make_video(project), "At the end, the paper is folded.")
    result, run = generate(project, capsys, recipe="vilma-state-action")
    assert (run.method, run.params["subtest"]) == ("state_change", "action")
    filters = ["identical", "duplicate", "asserted", "contradiction", "template_linter", "draw"]
    assert [row["slug"] for row in run.filters] == filters
    assert sum(result["states"].values()) == 1
    _, run = generate(project, capsys, recipe="vilma-state-action", set=["subtest=auto"], filters="identical")
    assert run.params["subtest"] == "auto"
    assert [row["slug"] for row in run.filters] == ["identical"]


def test_a_recipe_and_a_method_exclude_each_other(project, capsys):
    with pytest.raises(CommandError):
        call_command("generate", "--project", project.slug, "--recipe", "contrast-gender", "--method", "number")
    with pytest.raises(SystemExit):
        call_command("generate", project=project.slug, recipe="nothing")
    assert "there is no recipe 'nothing'" in capsys.readouterr().err


def test_swaps_are_not_limited_to_few_words_by_default(project, capsys):
    video = make_video(project)
    video.movie = "HP"
    video.save()
    cast = [{"name": "Ann", "gender": "f", "movie": "HP"}, {"name": "Eve", "gender": "f", "movie": "HP"}]
    make_caption(video, "the cat sees Ann.")
    result, run = generate(project, capsys, method="identity_swap", set=[f"characters={json.dumps(cast)}"])
    assert [row["slug"] for row in run.filters] == ["identical", "duplicate", "draw"]
    assert result["rejected_by"] == {"draw": 1}
    assert sum(result["states"].values()) == 1


def test_generated_captions_are_lines_that_import_accepts(project, tmp_path, capsys):
    sources, out = tmp_path / "sources.jsonl", tmp_path / "made.jsonl"
    lines = [{"caption": "a man folds a red shirt", "video": "clip-1"}, {"caption": "a man walks", "video": "clip-2"}]
    sources.write_text("\n".join(json.dumps(line) for line in lines))
    call_command("caption", maker="cos_caption", file=sources, out=out, set=["template=action"], as_json=True)
    result = json.loads(capsys.readouterr().out)
    assert [one["caption"] for one in result["captions"]] == ["Someone folds the red shirt."]
    assert [one["source"] for one in result["skipped"]] == ["a man walks"]
    call_command("import", "jsonl", str(out), "--project", project.slug)
    capsys.readouterr()
    caption = Caption.objects.get(video__project=project)
    assert caption.text == "Someone folds the red shirt."
    assert caption.facts["cos"]["verb"] == "fold"
    assert caption.video.key == "clip-1"
    result, _ = generate(project, capsys, recipe="vilma-state-action", subtest="s")
    assert sum(result["states"].values()) == 1


def test_the_command_reports_what_a_maker_needs(tmp_path, capsys):
    call_command("caption", maker="verb_noun_caption", text="cut-keyboard")
    assert "cutting a keyboard" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        call_command("caption", maker="nothing", text="x")
    assert "unknown caption maker 'nothing'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        call_command("caption", maker="verb_noun_caption", text="cut-keyboard", out=tmp_path / "no" / "file")
    assert "cannot be written" in capsys.readouterr().err
