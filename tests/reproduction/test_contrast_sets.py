"""The contrast sets: the tables of the two published files, and the eight sets from a few clips."""

import json
import shutil

import numpy as np
import pytest
import torch

from annotation.choices.actions.compose_choices import Request, plan_choices, result_of
from annotation.models import Edit, Vote
from foilworks.core.corpus.models import Caption, Item, Release, Subtest
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import Membership
from foilworks.site.reproduction import contrast_sets
from foilworks.site.reproduction.contrast_sets import list_cells
from foilworks.site.reproduction.eight_sets import PAPER as SIZES_OF_PAPER
from foilworks.site.reproduction.registry import SAMPLES
from foilworks.site.reproduction.table_cells import count_states
from generation.choices.compose import plain
from generation.models import GenerationRun
from tests.reproduction import stand_ins

SETS = {"msrvtt": ["Random", "Gender", "VerbLM", "VerbH"], "lsmdc": ["Random", "ID", "VerbLM", "VerbH"]}
TRAIN, TEST, MOVIES, CLIPS = 12, 7, 1, 50
# Of the published files of the sample.
OTHERS = ("a dog sleeps", "a car stops", "it rains")


def write_published(folder):
    shutil.copytree(SAMPLES / "contrast-sets", folder, dirs_exist_ok=True)


@pytest.fixture
def results(tmp_path, settings):
    settings.MODEL_ROOT, settings.MEDIA_ROOT = tmp_path / "models", tmp_path / "media"
    sources = tmp_path / "files"
    sources.mkdir()
    stand_ins.write_msrvtt(sources, TRAIN, TEST, seed=3)
    stand_ins.write_lsmdc(sources, MOVIES, CLIPS, seed=3)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    made = contrast_sets.reproduce(
        sources,
        tmp_path / "work",
        weights={},
        seed=3,
        sizes={"lsmdc": {"VerbH": 3}},
        votes=1,
        mistakes=0.0,
        epochs=1,
        tuning={"epochs": 6, "batch": 8, "learning_rate": 1e-2, "verb_share": 0.9, "device": "cpu"},
        decoding={"beams": 6, "top": 6, "device": "cpu"},
        more_than=0,
    )
    torch.set_num_threads(threads)
    found = {slug: json.loads((tmp_path / f"work/results-{slug}.json").read_text("utf-8")) for slug in SETS}
    return made, found


def cells_of(result, table):
    return {(cell.row, cell.column): cell for cell in result.cells if cell.table == table}


def test_the_published_files_give_their_sizes_and_verbs(tmp_path):
    write_published(tmp_path)
    result = contrast_sets.reproduce(tmp_path, tmp_path / "work", weights={}, seed=0)
    sizes = cells_of(result, "Contrast sets, Secs. D.1 and D.2")
    published = [cell for (row, _column), cell in sizes.items() if row.endswith(".tsv")]
    assert {(cell.paper, cell.ours, cell.state) for cell in published} == {(2554, 2, "other data")}
    verbs = cells_of(result, "Contrast sets, Fig. 3")
    assert {key: cell.ours for key, cell in verbs.items()} == {
        ("cry", "machine"): 0.0,
        ("cry", "person"): 50.0,
        ("throw", "machine"): 0.0,
        ("throw", "person"): 50.0,
    }
    assert any("12 of 12 words" in note for note in result.notes)
    groups = cells_of(result, "Contrast sets, Table 5: sizes of the groups")
    assert groups["VerbLM", "antonyms"].ours + groups["VerbLM", "high or low, each"].ours <= 2
    assert len(result.missing) == 6
    assert (tmp_path / "work/figure-3.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.full
@pytest.mark.django_db
def test_the_eight_sets_are_made_validated_and_scored(results):
    made, results = results
    for slug, sets in SETS.items():
        items = Item.objects.filter(subtest__project__slug=f"contrast-sets-{slug}", state="valid")
        assert list(results[slug]["sets"]) == sets
        assert {name: items.filter(subtest__name=name).count() for name in sets} == results[slug]["sets"]
        check_candidates(items)
        check_shared_captions(items, sets)
    # The list has a true caption of one clip among its options, and people wrote three foils of LSMDC.
    assert results["msrvtt"]["sets"]["Random"] == TEST - 1
    assert results["lsmdc"]["sets"]["VerbH"] <= 3
    check_people(results)
    check_seeds()
    check_cells(made)


def check_candidates(items):
    for item in items.select_related("caption").prefetch_related("foils"):
        true = {plain(text) for text in Caption.objects.filter(video=item.video).values_list("text", flat=True)}
        texts = [plain(foil.text) for foil in item.foils.all()]
        assert len(set(texts)) == 4
        assert not true.intersection(texts)


def check_shared_captions(items, sets):
    """All versions of a caption have random captions of its Random item, and those with a hard foil the same three."""
    found = {}
    for item in items.prefetch_related("foils", "subtest", "caption"):
        hard = item.facts.get("hard_foil")
        texts = frozenset(foil.text for foil in item.foils.all() if foil.position != hard)
        found.setdefault(item.caption.text, {})[item.subtest.name] = (hard, texts)
    for versions in found.values():
        _none, random = versions.pop(sets[0])
        assert len(set(versions.values())) <= 1
        assert all(len(texts) == 3 and texts < random for _hard, texts in versions.values())
    places = {versions[sets[1]][0] for versions in found.values() if sets[1] in versions}
    assert len(places) > 1


def check_people(results):
    votes = Vote.objects.select_related("person")
    judged = sum(found["sets"][name] for found in results.values() for name in ("VerbLM", "VerbH"))
    assert votes.filter(stage="baseline").count() == 3 * judged
    assert {vote.person.is_simulated for vote in votes} == {True}
    assert {edit.person.is_simulated for edit in Edit.objects.all()} == {True}
    assert all(edit.guideline_id for edit in Edit.objects.all())
    assert set(Membership.objects.values_list("simulated_traits__misjudges", flat=True)) == {0.0}
    assert set(Release.objects.values_list("project__is_simulated", flat=True)) == {True}
    for found in results.values():
        assert found["human"]["simulated"]
        assert set(found["human"]["majority"].values()) == {1.0}


def check_seeds():
    """The same seed composes the same items again; another seed keeps other random captions."""
    project = Subtest.objects.get(project__slug="contrast-sets-lsmdc", name="ID").project
    runs = {run.subtest.name: f"run:{run.pk}" for run in GenerationRun.objects.filter(project=project)}
    again = Subtest.objects.create(project=project, name="again", foils_per_item=4)

    def planned(seed):
        wanted = Request(runs["Random alone"], runs["ID alone"], seed, unreviewed=True)
        return {row["key"]: row["foils"] for row in result_of(plan_choices(again, wanted), wanted)["items"]}

    items = Item.objects.filter(subtest__project=project, subtest__name="ID").prefetch_related("foils")
    assert {item.key: [foil.text for foil in item.foils.order_by("position")] for item in items} == planned(3)
    assert planned(4) != planned(3)


def check_cells(made):
    states = count_states(made.cells)
    assert states.keys() == {
        "equal",
        "simulated",
        "tiny model",
        "other data",
        "not given",
        "needs weights",
        "not published",
    }
    for table, model, column in (
        ("Contrast sets, Table 2", "CLIP4CLIP", "Random MC"),
        ("Contrast sets, Table 3", "MMT", "ID MC"),
        ("Contrast sets, Table 4", "MMT", "Δ"),
        ("Contrast sets, Table 5", "CLIP4CLIP", "SentBERT, high"),
    ):
        cell = cells_of(made, table)[model, column]
        assert cell.state == "tiny model"
        assert cell.ours is not None
    human = cells_of(made, "Contrast sets, Table 2")["Human", "VerbLM MC"]
    assert (human.paper, human.ours, human.state) == (92.7, 100.0, "simulated")
    sizes = cells_of(made, "Contrast sets, Secs. D.1 and D.2")
    assert sizes["MSR-VTT, Random", "items made here"].ours == TEST - 1
    assert any("finds it unchanged" in note for note in made.notes)


@pytest.mark.django_db(transaction=True)
def test_given_models_are_scored_on_the_published_files(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    write_published(tmp_path)
    (tmp_path / "msrvtt_clips").mkdir()
    for at in range(2):
        write_mp4(tmp_path / f"msrvtt_clips/video{at}.mp4", np.full((8, 32, 32, 3), 90 * at, np.uint8), 8.0)
    result = contrast_sets.reproduce(tmp_path, tmp_path / "work", weights={"CLIP zero-shot": "fake:"}, seed=0)
    found = cells_of(result, "Contrast sets, Table 2")
    assert found["CLIP zero-shot", "VerbLM MC"].ours in {0.0, 50.0, 100.0}
    assert found["CLIP zero-shot", "VerbLM MC"].state == "other data"
    assert found["CLIP zero-shot", "Gender MC"].ours is None
    assert found["CLIP4CLIP", "VerbLM MC"].state == "not given"


def test_the_list_says_what_the_published_files_keep_of_it(tmp_path):
    write_published(tmp_path)
    captions = ["a man in a red shirt sings on a stage", "a boy sits", "it is dark"]
    rows = [
        {"qid": f"mc{at}", "clip_name": f"video{at}", "answer": "0", "options": [caption, *OTHERS, "a tree falls"]}
        for at, caption in enumerate(captions)
    ]
    path = tmp_path / "msrvtt_mc_test.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    published = {"VerbLM": tmp_path / "msrvtt_lm_contrast_set.tsv"}
    found = {(cell.row, cell.column): cell.ours for cell in list_cells(path, published)}
    assert found == {
        ("MSR-VTT, Random", "items"): 3,
        ("MSR-VTT, Gender", "items"): 2,
        ("MSR-VTT, msrvtt_lm_contrast_set.tsv", "items with three options of the list"): 2,
        ("MSR-VTT, msrvtt_lm_contrast_set.tsv", "items with the caption of the list"): 1,
    }


def test_the_sizes_of_the_paper_are_limits():
    assert SIZES_OF_PAPER["msrvtt"] == {"Random": 2990, "Gender": 2477, "VerbLM": 2554, "VerbH": 2554}
    assert SIZES_OF_PAPER["lsmdc"] == {"Random": 7010, "ID": 7010, "VerbLM": 7010, "VerbH": 3500}
