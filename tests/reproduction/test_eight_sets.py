"""The script of docs/papers/contrast-sets.md makes the eight sets from a few clips; its tables are the paper's."""

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
import torch

from annotation.choices.actions.compose_choices import Request, plan_choices, result_of
from annotation.models import Edit, Vote
from corpus.models import Caption, Item, Release, Subtest
from generation.choices.compose import plain
from generation.models import GenerationRun
from projects.models import Membership

pytestmark = pytest.mark.django_db
SCRIPT = Path(__file__).resolve().parents[2] / "docs/examples/contrast_sets/run.py"
SETS = {"msrvtt": ["Random", "Gender", "VerbLM", "VerbH"], "lsmdc": ["Random", "ID", "VerbLM", "VerbH"]}
SIZES = {"train": 12, "test": 7, "movies": 1, "clips": 50}


@pytest.fixture
def script(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    spec = spec_from_file_location("contrast_sets_run", SCRIPT)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield module
    torch.set_num_threads(threads)


@pytest.fixture
def results(script, tmp_path, settings):
    settings.MODEL_ROOT, settings.MEDIA_ROOT = tmp_path / "models", tmp_path / "media"
    models = script.write_stand_ins(tmp_path / "files", **SIZES, seed=3)
    options = script.Options(
        sizes={"lsmdc": {"VerbH": 3}},
        seed=3,
        votes=1,
        mistakes=0.0,
        epochs=1,
        tuning={"epochs": 6, "batch": 8, "learning_rate": 1e-2, "verb_share": 0.9, "device": "cpu"},
        decoding={"beams": 6, "top": 6, "device": "cpu"},
        more_than=0,
        t5=models["t5"],
        encoders={"SentBERT": models["encoder"]},
    )
    return script.make(tmp_path / "files", options)


def test_the_script_makes_validates_and_scores_the_eight_sets(results, script):
    for slug, sets in SETS.items():
        items = Item.objects.filter(subtest__project__slug=f"contrast-sets-{slug}", state="valid")
        assert list(results[slug]["sets"]) == sets
        assert {name: items.filter(subtest__name=name).count() for name in sets} == results[slug]["sets"]
        check_candidates(items)
        check_shared_captions(items, sets)
    # The list has a true caption of one clip among its options, and people wrote three foils of LSMDC.
    assert results["msrvtt"]["sets"]["Random"] == SIZES["test"] - 1
    assert results["lsmdc"]["sets"]["VerbH"] <= 3
    check_people(results)
    check_seeds()
    check_tables(script.tables.show(results))
    json.dumps(results, allow_nan=False)


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


def check_tables(shown):
    for head in (
        "Approach   ",
        "V→T R@1  Random MC  Gender MC  VerbLM MC  VerbH MC",
        "V→T R@1  Random MC   ID MC  VerbLM MC  VerbH MC",
        "Overall    Rare       Δ",
        "Accuracy on MSR-VTT (contrast sets, Table 2). Items: Random 6",
        "(contrast sets, Table 3)",
        "(contrast sets, Table 4)",
        "(contrast sets, Table 5)",
        "SentBERT: high",
    ):
        assert head in shown, shown
    human = [line for line in shown.splitlines() if line.startswith("Human (simulated)")]
    assert human[0].split()[2:] == ["-", "-", "-", "100.0", "100.0"]
    assert len(human) == 3


def test_the_sizes_of_the_paper_are_limits(script):
    assert script.PAPER["msrvtt"] == {"Random": 2990, "Gender": 2477, "VerbLM": 2554, "VerbH": 2554}
    assert script.PAPER["lsmdc"] == {"Random": 7010, "ID": 7010, "VerbLM": 7010, "VerbH": 3500}
