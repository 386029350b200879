"""Feint6K again from small files in the published form: what each table gets, and why a cell is empty."""

import json

import pytest

from annotation.models import Edit, Review, Vote
from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Item, Release
from foilworks.core.projects.models import Membership, Project
from foilworks.site.reproduction import feint6k
from foilworks.site.reproduction.feint6k_cells import (
    CLAIMS,
    README,
    SIZES,
    T1,
    T2,
    beyond,
    least_with_three,
    rank_notes,
    row_name,
)
from foilworks.site.teacher.paper_rows import TABLE_1, TABLE_2
from tests.reproduction import feint6k_sources

HUMAN, BIND = "Human", "zero-shot, LanguageBind"


@pytest.fixture
def places(tmp_path, settings):
    for name in ("MEDIA_ROOT", "CACHE_ROOT", "MODEL_ROOT"):
        setattr(settings, name, tmp_path / name.lower())
    return tmp_path / "sources", tmp_path / "out"


def by_place(result):
    return {(cell.table, cell.row, cell.column): cell for cell in result.cells}


def test_rows_whose_ranks_cannot_be_among_two_are_named():
    (note,) = rank_notes()
    worse, _, low = note.partition("probably R@3: ")[2].partition(". ")
    assert worse.split("; ") == [
        "zero-shot, VideoCLIP",
        "zero-shot, LanguageBind",
        "finetuned, SimVTP",
        "finetuned, SimVTP, w/ LLM-teacher-lbl",
        "finetuned, SimVTP, w/ LLM-teacher-lgt",
    ]
    assert "too low for it: finetuned, CLIP4Clip; finetuned, VindLU; " in low
    # Half first, a quarter second, a quarter at rank 4: 0.5 + 0.5 + 1 = 2.
    assert beyond((None, 50.0, 75.0, 2.0)) == pytest.approx(4)
    assert least_with_three((None, 50.0, 75.0, 2.0)) == pytest.approx(2)


def test_weights_of_a_model_that_is_not_in_the_paper_are_refused(tmp_path):
    with pytest.raises(EvaluationError, match="'CLIPS' is not a model here; choose one of: CLIP, "):
        feint6k.reproduce(tmp_path, tmp_path, weights={"CLIPS": "fake:"}, seed=0)


def test_rows_of_the_paper_have_distinct_names():
    names = [row_name(row) for row in TABLE_1]
    assert len(set(names)) == len(names) == 15


@pytest.mark.django_db
def test_without_sources_every_number_of_the_paper_stays_with_its_reason(places):
    sources, out = places
    sources.mkdir()
    result = feint6k.reproduce(sources, out, weights={}, seed=0)
    printed = sum(value is not None for row in TABLE_1 for values in row.printed.values() for value in values)
    assert len(result.cells) == printed + 4 * len(TABLE_2) + 4 + 3 + 8 + 2
    assert {cell.state for cell in result.cells} == {"not given", "needs weights"}
    assert all(cell.why for cell in result.cells)
    assert len(result.missing) == len(feint6k.SOURCES)
    assert not Project.objects.exists()


@pytest.mark.full
@pytest.mark.django_db
def test_captions_alone_are_collected_again_by_forty_simulated_people(places):
    sources, out = places
    (feint6k_sources.write(sources, films=False) / "feint6k_vatex.csv").unlink()
    result = feint6k.reproduce(sources, out, weights={}, seed=0)
    found = by_place(result)
    assert found[T1, "Random", "MSR-VTT, R@1"].state == "other data"
    chance = found[T1, "Random", "MSR-VTT, standard R@1"]
    assert (chance.ours, chance.state) == (pytest.approx(100 / 7), "no number in the paper")
    human = found[T1, HUMAN, "MSR-VTT, R@1"]
    assert (human.ours, human.state) == (100, "simulated")
    # Ranks 1, 1, 1, 2, 3, 6.
    bind = [found[T1, BIND, f"MSR-VTT, {name}"].ours for name in ("R@1", "R@2", "MeanR")]
    assert bind == pytest.approx([50, 100 * 4 / 6, 14 / 6])
    assert found[README, "LanguageBind", "VATEX, R@3"].ours == pytest.approx(100 * 5 / 6)
    assert found[T1, HUMAN, "VATEX, R@1"].state == "not given"
    assert found[T1, "zero-shot, CLIP", "MSR-VTT, R@1"].state == "needs weights"
    assert (found[SIZES, "videos", "both"].ours, found[SIZES, "annotators", "both"].ours) == (7, 40)
    check_people()
    assert any("because two of their texts are equal: 1." in one for one in result.notes)
    assert any("published file that are not imported: 1; the first:" in one for one in result.notes)
    assert any(
        "6 of 7 items that simulated people made have exactly the published texts; reviewers returned 1." in one
        for one in result.notes
    )
    assert any("6 clips are grey stand-ins" in one for one in result.notes)
    assert any("`foilworks verify` finds it unchanged" in one for one in result.notes)
    assert (out / "msrvtt/audit.json").is_file()
    written = next((out / "msrvtt/published-form").rglob("*.csv")).read_text()
    assert written.splitlines()[1:] == (sources / "feint6k_msrvtt.csv").read_text().splitlines()[1:37]


def check_people():
    project = Project.objects.get(slug="feint6k-msrvtt")
    members = Membership.objects.filter(project=project, role="annotator")
    assert (members.count(), members.filter(person__is_simulated=True).count()) == (40, 40)
    assert (Edit.objects.count(), Review.objects.count(), Vote.objects.count()) == (7, 31, 6)
    for vote in Vote.objects.select_related("person"):
        assert not Edit.objects.filter(person=vote.person, group__caption__video=vote.item.video).exists()


@pytest.mark.full
@pytest.mark.django_db
def test_videos_and_train_captions_give_tiny_models_for_every_row_of_llm_teacher(places):
    sources, out = places
    result = feint6k.reproduce(feint6k_sources.write(sources), out, weights={"CLIP": "fake:"}, seed=0)
    found = by_place(result)
    for name in ("InternVideo", "SimVTP"):
        for row in (
            f"finetuned, {name}",
            f"finetuned, {name}, w/ LLM-teacher-lbl",
            f"finetuned, {name}, w/ LLM-teacher-lgt",
        ):
            for column in ("MSR-VTT, standard R@1", "VATEX, R@1", "VATEX, R@2", "VATEX, MeanR"):
                assert (found[T1, row, column].state, found[T1, row, column].ours is None) == (
                    "tiny model",
                    False,
                )
    assert found[T1, "zero-shot, CLIP", "VATEX, R@1"].state == "other data"
    for name in ("default", "5 actions", "5 actions + 5 objects"):
        assert found[T2, TABLE_2[name].name, "R@1"].state == "tiny model"
    assert found[T2, TABLE_2["chatbot"].name, "R@1"].ours is None
    assert {cell.state for place, cell in found.items() if place[0] == CLAIMS} == {"tiny model"}
    assert any("R@1 is" in note and "(Feint6K, Fig. 1b: no number printed)" in note for note in result.notes)
    assert (out / "msrvtt/ladder.json").is_file()
    figure = json.loads((out / "vatex/figures/figure-5b.json").read_text())
    assert {row["model"] for row in figure["rows"]} == {"IntVid-pt", "IntVid-ft", "LLM-teacher"}
    assert (out / "vatex/figures/figure-5b.svg").read_text().startswith("<")
    assert Release.objects.count() == 4
    assert not Item.objects.exclude(state="valid").exists()
