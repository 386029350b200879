"""Negatives from imported items, runs, people and two-clip items: what is used, and what never is."""

import json

import pytest
from django.core.management import call_command

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Caption, Video
from foilworks.core.corpus.rules.states import CandidateState, FoilVerdict, ItemState
from foilworks.core.text.registry import parse_params
from foilworks.site.teacher.mixtures import mixture_of
from foilworks.site.teacher.negatives import known_sources
from foilworks.site.teacher.plan import TEACHING
from foilworks.site.teacher.sources import collect
from tests.factories import make_candidate, make_caption, make_group, make_item, make_run, make_subtest, make_video

pytestmark = pytest.mark.django_db


def collected(shapes, *given, count=10, seed=0, **more):
    params = {**parse_params(TEACHING, {}), "without_negatives": "leave_out", **mixture_of(given, count, seed).params}
    return collect(shapes.project, {**params, **more}, needs_negatives=True)


def test_imported_foils_are_used_but_none_that_was_rejected(shapes):
    first, second, third, fourth = shapes.captions[:4]
    subtest = make_subtest(shapes.project, name="verb-h")
    kept = make_item(subtest, first, ("it hops left", "it is false", "it is disputed", first.text.upper()))
    for position, verdict in ((1, FoilVerdict.INVALID), (2, FoilVerdict.DISPUTED)):
        kept.foils.filter(position=position).update(verdict=verdict)
    make_item(subtest, second, ("it was retracted",), state=ItemState.RETRACTED)
    make_item(subtest, third, ("its clip is in another split",))
    Video.objects.filter(pk=third.video_id).update(split="val")
    make_item(subtest, fourth, ("its caption is in doubt",))
    Caption.objects.filter(pk=fourth.pk).update(flagged_false=True)
    for source in ("subtest:verb-h", "imported"):
        found = collected(shapes, source)
        assert (found.captions, found.negatives) == ([first.text], [["it hops left"]])
    assert found.provenance["mixture"]["shares"][0]["available"] == 1


def test_only_the_hard_foil_of_a_published_choice_is_a_negative(shapes):
    foils = ("a dog eats", "it slides up", "two women talk", "a car stops")
    subtest = make_subtest(shapes.project, name="five")
    make_item(subtest, shapes.captions[0], foils, extra={"label": 0, "c_label": 2})
    assert collected(shapes, "imported").negatives == [["it slides up"]]


def test_texts_by_people_are_used_unless_they_were_returned_or_dropped(shapes):
    group = make_group(make_run(shapes.actions), shapes.captions[0])
    states = (
        CandidateState.ACCEPTED,
        CandidateState.IN_REVIEW,
        CandidateState.RETURNED,
        CandidateState.EDITING,
        CandidateState.DROPPED,
        CandidateState.SUPERSEDED,
    )
    for state in states:
        make_candidate(group, f"it is {state.value}", state=state, author=shapes.owner)
    make_candidate(group, "it is by a machine", state=CandidateState.ACCEPTED)
    assert sorted(collected(shapes, "people").negatives[0]) == ["it is accepted", "it is in_review"]


def test_the_other_caption_of_two_clips_is_used_only_within_the_split(shapes):
    subtest = make_subtest(shapes.project, name="pairs")
    one, other, third = shapes.captions[:3]
    make_item(subtest, one, (other.text,), pair="both train")
    make_item(subtest, other, (one.text,), pair="both train")
    make_item(subtest, third, ("a caption of a test clip",), pair="apart")
    outside = make_caption(make_video(shapes.project, split="test"), "a caption of a test clip")
    make_item(subtest, outside, (third.text,), pair="apart")
    for source in ("pairs", "subtest:pairs"):
        found = collected(shapes, source)
        assert sorted(zip(found.captions, found.negatives, strict=True)) == sorted(
            [(one.text, [other.text]), (other.text, [one.text])]
        )
    with pytest.raises(EvaluationError, match="imported has no usable negative for the chosen captions of the train"):
        collected(shapes, f"run:{shapes.action_run.pk}", "imported")


def test_a_mixture_reports_what_it_achieved_and_names_its_runs(shapes):
    subtest = make_subtest(shapes.project, name="verb-h")
    for caption in shapes.captions[:2]:
        make_item(subtest, caption, ("it hops left", "it hops right"))
    given = (f"run:{shapes.action_run.pk}=0.5", "imported=0.5")
    found = collected(shapes, *given, count=4)
    about = found.provenance["mixture"]
    assert [(row["source"], row["negatives"]) for row in about["shares"]] == [(given[0][:-4], 28), ("imported", 4)]
    assert sorted(found.negatives[0])[-2:] == ["it hops left", "it hops right"]
    assert about["warnings"][0].startswith("imported: has too few texts for its share of 0.5; it gives 4 negatives")
    assert [(run["run"], run["kind"]) for run in found.provenance["runs"]] == [(shapes.action_run.pk, "mixed")]
    assert collected(shapes, *given, count=4).provenance["sha256"] == found.provenance["sha256"]
    known = known_sources(shapes.project, "train", [shapes.action_run.pk])
    assert known == ["imported", "subtest:verb-h", f"run:{shapes.action_run.pk}"]


def test_sources_that_are_not_there_are_named(shapes):
    for given, more, problem in (
        (("run:999",), {}, "run:999: no such run in this project"),
        (("subtest:none",), {}, "the project has no subtest 'none'; choose one of: "),
        (("people",), {}, "no caption of the train split has a video"),
        (("imported",), {"action_runs": [shapes.action_run.pk]}, "a mixture replaces action_runs and object_runs"),
    ):
        with pytest.raises(EvaluationError) as refused:
            collected(shapes, *given, **more)
        assert problem in str(refused.value)


def test_an_export_follows_the_mixture_and_warns(shapes, tmp_path, capsys):
    subtest = make_subtest(shapes.project, name="verb-h")
    make_item(subtest, shapes.captions[0], ("it hops left",))
    out = tmp_path / "set.jsonl"
    given = (
        "--negatives",
        f"run:{shapes.object_run.pk}=0.5",
        "--negatives",
        "subtest:verb-h=0.5",
        "--set",
        "negatives.per_caption=2",
    )
    call_command(
        "teacher", "export", "--project", shapes.project.slug, *given, "--set", "lgt=0", "--out", str(out), "--json"
    )
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 8
    assert "it hops left" in next(row["negatives"] for row in rows if row["caption"] == shapes.captions[0].text)
    told = capsys.readouterr()
    assert "warning: subtest:verb-h: has too few texts for its share of 0.5" in told.err
    shares = json.loads(told.out)["sources"]["train"]["mixture"]["shares"]
    assert [row["source"] for row in shares] == [f"run:{shapes.object_run.pk}", "subtest:verb-h"]
