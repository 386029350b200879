"""VerbLM from train captions to items, by commands and by the API (docs/how-to/multiple-choice.md)."""

import json
from pathlib import Path

import pytest
import torch
from django.core.management import call_command

from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.model_folders import models_of
from foilworks.core.projects.models import ApiToken, Role
from generation.models import Candidate, FilterScore, GenerationRun, Tuning
from generation.recipes import find_recipe
from tests.factories import make_caption, make_member, make_project, make_subtest, make_video
from tests.generation.masked_world import captions
from tests.generation.test_filters_language import VECTORS
from tests.hub import folders

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("recipes")]
# Limits that random weights and a small world can meet.
FILTERS = {"frequency": {"more_than": 3}, "perplexity": {"model": "lm"}}
FILTERS["meaning"] = {"model": "sentence", "vectors": VECTORS, "sentence_max": 1.01}
TUNING = {"epochs": 6, "batch": 32, "learning_rate": 8e-3, "verb_share": 0.8, "device": "cpu"}
DECODING = {"beams": 8, "top": 8, "device": "cpu"}


@pytest.fixture
def root(settings, tmp_path):
    """Models in the installation's folder: an untuned T5, and those of the filters."""
    settings.MODEL_ROOT = tmp_path / "models"
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    world = [text for text, _, _ in captions()[:330]]
    folders.text_to_text(settings.MODEL_ROOT / "t5", [*world, *folders.CORPUS], steps=0)
    folders.causal_lm(settings.MODEL_ROOT / "lm")
    folders.sentence_encoder(settings.MODEL_ROOT / "sentence")
    yield Path(settings.MODEL_ROOT)
    torch.set_num_threads(threads)


@pytest.fixture
def project():
    project = make_project(slug="verbs")
    for n, (text, _, _) in enumerate(captions()[:330]):
        make_caption(make_video(project, key=f"v{n}", split="test" if n >= 300 else "train"), text)
    for name, foils in (("random", 4), ("verbs alone", 1), ("verb-lm", 4)):
        make_subtest(project, name=name, foils_per_item=foils)
    return project


def printed(capsys, name, *options):
    call_command(name, "--project", "verbs", *options, "--json")
    return json.loads(capsys.readouterr().out)


def options(values, prefix=""):
    return [part for name, value in values.items() for part in ("--set", f"{prefix}{name}={value}")]


def filter_options(root):
    """The filters' own models, as --set has them."""
    placed = {
        slug: {name: str(root / value) if name == "model" else value for name, value in params.items()}
        for slug, params in FILTERS.items()
    }
    return [part for slug, params in placed.items() for part in options(params, f"{slug}.")]


@pytest.mark.full
def test_commands_tune_decode_filter_and_compose(project, root, capsys):
    tuned = printed(capsys, "tune", *options({"model": root / "t5", **TUNING}), "--sync")
    assert (tuned["state"], tuned["captions"], tuned["steps"]) == ("done", 300, 60)
    assert Path(tuned["folder"]).parent == models_of(project.pk) / "tuned"
    random = printed(
        capsys, "generate", "--subtest", "random", "--recipe", "contrast-random", "--split", "test", "--sync"
    )
    verbs = printed(
        capsys,
        *("generate", "--subtest", "verbs alone", "--recipe", "contrast-verb-lm", "--mode", "paper"),
        *("--split", "test", *options({"model": tuned["folder"], **DECODING}), *filter_options(root), "--sync"),
    )
    assert verbs["state"] == "done"
    # Every filter of the paper judged every foil; mode paper has its formula.
    passed = Candidate.objects.filter(group__run=verbs["run"], state=CandidateState.QUEUED)
    judged = FilterScore.objects.filter(candidate__in=passed).values_list("filter", flat=True)
    assert set(judged) == set(find_recipe("contrast-verb-lm").filters_in("paper"))
    assert set(passed.values_list("model_id", flat=True)) == {Path(tuned["folder"]).name}
    stored = {row["slug"]: row["params"] for row in GenerationRun.objects.get(pk=verbs["run"]).filters}
    assert stored["perplexity"]["formula"] == "paper"
    composed = printed(
        capsys,
        *("compose", "--subtest", "verb-lm", "--random", f"run:{random['run']}", "--hard", f"run:{verbs['run']}"),
        "--unreviewed",
    )
    assert composed["composed"] == passed.values("group").distinct().count() > 0
    assert {row["foils"][row["hard_foil"]] for row in composed["items"]} <= set(passed.values_list("text", flat=True))
    assert {made["made_by"] for made in Item.objects.values_list("facts", flat=True)} == {"machine"}


def test_a_tuning_without_a_worker_waits_and_says_so(project, root, capsys):
    call_command("tune", "--project", "verbs", *options({"model": root / "t5"}))
    out, err = capsys.readouterr()
    assert out.startswith("tuning ")
    assert "waiting" in out
    assert "worker" in err
    with pytest.raises(SystemExit):
        call_command("tune", "--project", "verbs", "--set", "epochs=0")
    assert "epochs" in capsys.readouterr().err


def test_the_api_tunes_and_makes_foils_by_a_recipe(project, root, client):
    owner = make_member(project, Role.RESEARCHER)
    headers = {"Authorization": f"Bearer {make_token(owner, name='t', scope=ApiToken.Scope.MANAGE).secret}"}

    def post(path, body):
        answer = client.post(f"/api/v1/projects/verbs/{path}", body, "application/json", headers=headers)
        return answer.status_code, answer.json()

    status, started = post("tunings", {"params": {"model": "t5", **TUNING, "epochs": 1}})
    assert (status, started["folder"]) == (202, "")
    assert run_now(Tuning.objects.get().job).state == "done"
    found = client.get(f"/api/v1/projects/verbs/tunings/{started['id']}", headers=headers).json()
    assert found["folder"].startswith("tuned/")
    assert found["losses"][-1][0] == found["steps"] == 10
    subtest = project.subtests.get(name="verbs alone").pk
    asked = {
        "subtest": subtest,
        "recipe": "contrast-verb-lm",
        "mode": "paper",
        "params": {"model": found["folder"], **DECODING},
        "filters": {"frequency": {"more_than": 0}},
        "selection": {"split": "test"},
    }
    status, run = post("runs", asked)
    assert (status, run["method"], run["params"]["pattern"]) == (202, "span_infill", "both")
    filters = {row["slug"]: row["params"] for row in run["filters"]}
    assert list(filters) == list(find_recipe("contrast-verb-lm").filters_in("paper"))
    assert (filters["frequency"]["more_than"], filters["perplexity"]["formula"]) == (0, "paper")
    status, refused = post("runs", {**asked, "method": "number"})
    assert (status, "span_infill" in refused["detail"]) == (400, True)
