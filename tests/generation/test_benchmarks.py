"""A benchmark: one press makes a run per kind of foil, with its subtest, and proficiency items for all of them."""

import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from foilworks.core.corpus.models import Subtest
from generation.actions import benchmarks
from generation.actions.benchmarks import start_benchmark
from generation.errors import GenerationError
from generation.methods.registry import METHODS
from generation.models import Candidate, GenerationRun
from generation.recipes import BENCHMARKS, RECIPES
from tests.factories import make_caption, make_member, make_project, make_subtest, make_video

DIRECTIONS = ("The ball rolls to the left.", "The ball rolls to the right.")


@pytest.fixture
def project(db):
    project = make_project()
    for number in range(6):
        make_caption(make_video(project), f"In clip {number}, {DIRECTIONS[number % 2].lower()}")
    return project


@pytest.mark.parametrize("slug", BENCHMARKS)
def test_each_kind_of_a_benchmark_has_a_recipe_of_an_existing_method(slug):
    names = [*BENCHMARKS[slug].recipes.values(), BENCHMARKS[slug].proficiency]
    assert {RECIPES[name].method for name in names} <= set(METHODS)
    # Both are names of `--recipe`.
    assert slug not in RECIPES


@pytest.mark.parametrize(
    ("name", "value"),
    [("subtest", "order"), ("mode", "paper"), ("set", ["foils=2"]), ("filters", ""), ("estimate", True)],
)
def test_a_benchmark_refuses_options_of_one_run(project, capsys, name, value):
    with pytest.raises(SystemExit):
        call_command("generate", project=project.slug, recipe="temporal", **{name: value})
    assert capsys.readouterr().err.endswith(f"sets these for each of its runs; leave out --{name}\n")
    assert not GenerationRun.objects.exists()


def test_one_command_makes_the_subtests_their_runs_and_their_proficiency_items(project, capsys):
    kept = make_subtest(project, name="direction and manner")
    call_command("generate", project=project.slug, recipe="temporal", sync=True, as_json=True)
    result = json.loads(capsys.readouterr().out)
    assert [row["subtest"] for row in result["runs"]] == ["temporal proficiency", *BENCHMARKS["temporal"].recipes]
    assert {row["state"] for row in result["runs"]} <= {"done", "partly"}
    simpler = Subtest.objects.get(project=project, kind=Subtest.Kind.PROFICIENCY)
    made = Subtest.objects.filter(project=project, kind=Subtest.Kind.MAIN).exclude(pk=kept.pk)
    assert {subtest.proficiency_subtest for subtest in made} == {simpler}
    foils = Candidate.objects.filter(group__run__subtest=kept)
    # The coin leaves as many of both directions as it draws, of three each.
    assert foils.filter(text__contains="right").exists()
    assert foils.filter(text__contains="left").exists()
    assert Candidate.objects.filter(group__run__subtest=simpler).count() == 6


def test_the_button_starts_all_runs_and_a_failure_none(project, client, monkeypatch):
    with pytest.raises(GenerationError, match="there is no benchmark 'spatial'"):
        start_benchmark(None, project, "spatial")
    with monkeypatch.context() as patched:
        patched.setitem(benchmarks.BENCHMARKS["temporal"].recipes, "last", "unknown")
        with pytest.raises(GenerationError, match="there is no recipe 'unknown'"):
            start_benchmark(None, project, "temporal")
    assert not GenerationRun.objects.exists()
    assert not Subtest.objects.exists()
    client.force_login(make_member(project, "researcher"))
    answer = client.post(reverse("generation:start_benchmark", args=[project.slug]), {"benchmark": "temporal"})
    assert answer.headers["Location"] == reverse("generation:runs", args=[project.slug])
    assert GenerationRun.objects.count() == len(BENCHMARKS["temporal"].recipes) + 1
    assert "Started 7 runs" in client.get(answer.headers["Location"]).content.decode()
