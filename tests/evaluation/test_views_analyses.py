"""Analyses of a release as pages, charts and files."""

import csv
import io
import xml.etree.ElementTree as ET

import pytest
from django.urls import reverse

from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.reports.analysis_pages import PAGES
from evaluation.reports.edit_kinds import edited_kinds
from evaluation.reports.reports import facts_of, project_report, release_analysis
from evaluation.scoring.actions.models import describe_model
from foilworks.core.corpus.models import Caption, Video
from tests import factories
from tests.addresses import named
from tests.evaluation.ranked import make_release, score

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return factories.make_project(slug="ranked")


@pytest.fixture
def release(project, tmp_path):
    """Every item says all that an analysis reads; model m has the even ones right."""
    make_release(project)
    for number, caption in enumerate(Caption.objects.filter(text__startswith="a ball").order_by("pk")):
        caption.facts = {
            "count": number % 3 + 1,
            "proximity": number / 24,
            "original_frequency": number,
            "swapped_frequency": 12,
            "edited": "action" if number % 2 else "object",
        }
        caption.save()
    for number, video in enumerate(Video.objects.order_by("pk")):
        video.start_time, video.end_time = 0.0, 1.0 + number
        video.save()
    found = freeze_release(None, project, name="with facts")
    score(found, tmp_path, "m", lambda k: k % 2 == 0)
    return found


def url(name, release, *args):
    return reverse(named(name), args=[release.project.slug, release.pk, *args])


@pytest.mark.parametrize("kind", PAGES)
def test_each_page_has_its_numbers_its_chart_and_its_explanation(owner, release, kind):
    answer = owner.get(url("analysis", release, kind))
    assert "why" not in answer.context
    html = answer.content.decode()
    assert "How to read it" in html
    assert "Fig." in html or "Table" in html
    assert ET.fromstring(owner.get(url("analysis_file", release, kind, "svg")).content).tag.endswith("svg")
    data = owner.get(url("analysis_file", release, kind, "json")).json()
    rows = list(csv.DictReader(io.StringIO(owner.get(url("analysis_file", release, kind, "csv")).content.decode())))
    assert len(rows) == len(data["rows"])
    assert [int(row["n"]) for row in rows] == [row["n"] for row in data["rows"]]


def test_the_shown_table_is_there_for_papers(owner, release):
    tex = owner.get(url("analysis_file", release, "counts", "tex")).content.decode()
    assert tex.splitlines()[0] == r"\begin{tabular}{lrrrr}"
    # Model m has the even ones right: of the eight items that count one, those with an even number.
    assert r"m & 1 & 50.0 \% [" in tex
    markdown = owner.get(url("analysis_file", release, "counts", "md")).content.decode()
    assert markdown.startswith("| Model | Item group | Accuracy | Chance | Items |")
    second = owner.get(url("analysis_file", release, "counts", "svg"), {"chart": "categories"}).content
    assert b"not specified (n = 1)" in second


def test_numbers_are_those_of_the_items(release):
    rows = {row["group"]: row for row in release_analysis(release, "delta")["rows"]}
    # Even items are objects and right (-.5), odd ones actions and wrong (+.5).
    assert (rows["object"]["mean"], rows["action"]["mean"], rows["all"]["n"]) == (-0.5, 0.5, 24)
    assert [row["accuracy"] for row in release_analysis(release, "counts")["rows"]] == [0.5, 0.5, 0.5]
    assert sum(row["n"] for row in release_analysis(release, "length")["rows"]) == 24


def test_a_card_names_the_category_of_the_bands(release, person):
    describe_model(person, release.runs.get(), category="video")
    assert {row["category"] for row in release_analysis(release, "counts")["categories"]} == {"video"}


def test_parameters_of_the_address_are_used_and_invalid_ones_ignored(owner, release):
    assert owner.get(url("analysis", release, "length") + "?cut=log").context["data"]["cut"] == "log"
    assert owner.get(url("analysis", release, "length") + "?cut=sideways").context["data"]["cut"] == "quantile"
    assert owner.get(url("analysis", release, "proximity") + "?share=0.5").context["data"]["share"] == 0.5
    assert owner.get(url("analysis", release, "nothing")).status_code == 404
    assert owner.get(url("analysis_file", release, "delta", "exe")).status_code == 404


def test_missing_facts_are_named(owner, project):
    release = make_release(project)
    assert "No model is scored" in owner.get(url("analysis", release, "delta")).content.decode()
    assert owner.get(url("analysis_file", release, "delta", "csv")).status_code == 409


def test_the_command_reads_the_newest_scored_release(project, release):
    assert len(project_report(project, "delta")["rows"]) == 3
    assert project_report(project, "counts", subtest="up")["rows"][0]["n"] == 4
    assert project_report(project, "numbers")["n_texts"] == Caption.objects.count()


def test_facts_are_those_of_the_caption_then_the_foils_then_the_clip():
    video = {"start_time": 2.0, "end_time": 5.0, "time_unit": "sec", "duration": 60.0}
    made = [{"method": "number", "facts": {"from": "two"}}, {"method": "verb", "facts": {"from": "ran"}}]
    record = {"facts": {"count": 2}, "provenance": made, "video": video, "extra": {}, "subtest": "s"}
    assert facts_of(record) == {
        "count": 2,
        "from": ["two", "ran"],
        "edited": ["number", "verb"],
        "duration": 3.0,
    }
    bare = {**record, "provenance": [None], "video": {**video, "end_time": None}, "facts": {}}
    assert facts_of(bare) == {"edited": ["s"], "duration": 58.0}


@pytest.mark.parametrize(
    ("positions", "edited", "frequencies"),
    [
        ([0, 1, 2], ["action", "object", "action"], [9, 5, 7]),
        ([1], ["object"], [5]),
        ([1, 4], ["object", None], [5, None]),
    ],
)
def test_facts_per_foil_cover_the_remaining_foils(positions, edited, frequencies):
    facts = {"edited": ["action", "object", "action"], "swapped_frequency": [9, 5, 7], "objects": ["cup", "ball"]}
    record = {
        "facts": facts,
        "foil_positions": positions,
        "provenance": [None] * len(positions),
        "subtest": "s",
        "video": {"start_time": None, "end_time": None, "time_unit": "sec", "duration": None},
    }
    assert facts_of(record) == {"edited": edited, "swapped_frequency": frequencies, "objects": ["cup", "ball"]}


def test_edits_are_actions_and_objects_whatever_made_them():
    """As (Feint6K, Fig. 5) groups them: by subtest, by the blank of mask filling, or by the method."""
    made = [
        {"method": "mask_fill", "facts": {"form": "VBZ"}},
        {"method": "mask_fill", "facts": {"form": "NNS"}},
        {"method": "object_swap", "facts": {}},
        {"method": "chat", "facts": {}},
        None,
    ]
    record = {"subtest": "s", "foils": ["a"] * 5, "facts": {}, "extra": {}, "provenance": made}
    assert edited_kinds(record, set()) == ["action", "object", "object", "chat", "s"]
    assert edited_kinds(record, {"s"}) == ["action"] * 5
    assert edited_kinds({**record, "facts": {"edited": "object"}}, set()) == ["object"] * 5
