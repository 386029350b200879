"""Recipes: every one runs from its sources to queued candidates on tiny models, with provenance, and again the same."""

import json
from pathlib import Path

import pytest
import torch
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.db.models import Q
from transformers import BertForSequenceClassification

from foilworks.core.corpus.models import Caption, MediaState
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.hub.training.text_to_text import SpanTraining, Text, tune
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import AuditEvent
from foilworks.core.text.language.inflection import lemmas
from foilworks.core.text.language.tools import tagger
from foilworks.core.text.registry import load, parse_params
from generation import pipeline
from generation.captioning.registry import CAPTIONERS
from generation.errors import GenerationError
from generation.filters.registry import DRAW, FILTERS
from generation.grammar.spans import verb_spans
from generation.methods.registry import METHODS
from generation.models import Candidate, CandidateGroup, FilterScore, GenerationRun
from generation.recipes import RECIPES, find_recipe
from generation.records import CaptionInput, MadeCaption
from tests.e2e.conftest import moving_dot
from tests.factories import make_caption, make_project, make_subtest, make_video
from tests.generation.making import step
from tests.generation.masked_world import captions, train
from tests.generation.test_filters_language import VECTORS
from tests.hub import folders

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("recipes")]
CAST = [{"name": "Ann", "gender": "f"}, {"name": "Eve", "gender": "f"}]
FOLDS = [("a man folds a shirt", {}), ("a man unfolds a shirt", {})]
WORLD = [(text, {}) for text in ("a man cuts a apple", "a woman opens a door outside", "the boy throws a ball at home")]
# What a source looks like.
SOURCES = {
    "vilma-counting-easy": [("he does exactly <number> jumps.", {"count": n}) for n in (2, 7)],
    "vilma-counting-difficult": [("he does exactly <number> jumps.", {"count": n}) for n in (2, 7)],
    "vilma-counting-proficiency": [(f"{text} exactly three times", {}) for text, _ in WORLD],
    "vilma-spatial": [("a dog jumps on the table", {}), ("a man in a box", {}), ("a boy under a table", {})],
    "vilma-spatial-unranked": [("a cup on a table", {}), ("a cat under a box", {})],
    "vilma-action-replacement": WORLD,
    "vilma-proficiency-object": WORLD,
    "vilma-actor-swap": [("a dog chases a cat.", {})],
    "vilma-state-action": FOLDS,
    "vilma-state-pre": FOLDS,
    "vilma-state-post": FOLDS,
    "vilma-state-reverse": FOLDS,
    "vilma-rare-verb": [("cut-door", {}), ("fold-apple", {}), ("open-shirt", {})],
    "vilma-rare-object": [("cut-door", {}), ("fold-apple", {})],
    "vilma-rare-existence": [("washing some fridges", {}), ("cutting a book", {})],
    "contrast-gender": [("a woman pushes her stroller", {}), ("a man pushes his stroller", {})],
    "contrast-identity": [("Ann smiles", {"characters": CAST}), ("Eve smiles", {"characters": CAST})],
    "contrast-random": [(f"caption {n}", {}) for n in range(9)],
    "contrast-verb-lm": [(text, {}) for text, _, _ in captions()[:40]],
    "contrast-verb-person": [("a man runs", {})],
    "feint6k-person": [("a man runs", {})],
    "feint6k-teacher": WORLD,
    "feint6k-teacher-5": WORLD,
    "feint6k-teacher-5-5": WORLD,
    "feint6k-teacher-objects": WORLD,
    "feint6k-teacher-chat": WORLD,
    "temporal-order": [("the boy opens the door and then sits down.", {})],
    "temporal-direction": [("the ball rolls to the left.", {}), ("a ball rolls to the right.", {})],
    "temporal-binding": [("a wooden spoon lies in a metal bowl.", {})],
    "temporal-negation": [("a man with a hat waves.", {}), ("a boy with no hat waves.", {})],
    "temporal-colours": [("a red ball hits a blue box.", {})],
    "temporal-states": FOLDS,
    "temporal-proficiency": WORLD,
}
BY_MODEL = {
    "mask_fill": ("model",),
    "proficiency_object": ("model",),
    "span_infill": ("model",),
    "preposition": ("model",),
    "object_swap": ("model",),
    "proficiency_action": ("spans", "model"),
    "chat": ("model",),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict[str, str]:
    """A tiny model for each kind that recipes name; those that put words in were taught some captions."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    root = tmp_path_factory.mktemp("models")
    world = captions()[:600]
    yield {
        "mask": str(train(root / "mask", world, epochs=4)),
        "t5": spans_taught(root / "t5", [text for text, _, _ in world]),
        "lm": str(folders.causal_lm(root / "lm")),
        "nli": leaning(folders.classifier(root / "nli"), 1),
        "cola": leaning(folders.classifier(root / "cola", ("unacceptable", "acceptable")), 1),
        "sentence": str(folders.sentence_encoder(root / "sentence")),
        "detector": str(folders.detector(root / "detector", ("drum", "kettle", "cup"))),
    }
    torch.set_num_threads(threads)


def spans_taught(folder: Path, lines: list[str]) -> str:
    """A text-to-text model tuned on the world's captions, and on what "a person can" do."""
    known = ((lemmas(line.split()[2]).get("VERB", ()), line.split()[-1]) for line in lines)
    able = {f"a person can {verbs[0]} a {thing}" for verbs, thing in known if verbs}
    corpus = [*lines, *sorted(able)]
    words = [*corpus, *folders.CORPUS, "in under behind inside outside above below over cutting folding opening"]
    base = folders.text_to_text(folder / "base", words, steps=0)
    tags = tagger("offline")
    texts = [
        Text(text, tuple((one.start, one.end) for one in verb_spans(tags.tag(text), "verb", "every")))
        for text in corpus
    ]
    plan = SpanTraining(epochs=4, batch=32, learning_rate=8e-3, verb_share=0.8)
    for _ in tune(str(base), texts, plan, folder, device="cpu"):
        pass
    return str(folder / "model")


def leaning(folder: Path, label: int) -> str:
    """The classifier with a bias to one label, so that some of its verdicts let foils pass."""
    model = BertForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        model.classifier.weight *= 0.1
        model.classifier.bias[label] = 6.0
    model.save_pretrained(folder)
    return str(folder)


def tiny(slug: str, models: dict[str, str]) -> list[str]:
    """The recipe's models replaced by tiny ones, as --set has it; bars that tiny data cannot meet are lowered."""
    recipe = RECIPES[slug]
    named = {
        "span_infill": {"model": "t5", "beams": 8, "top": 8},
        "preposition": {"model": "t5"},
        "proficiency_action": {"spans": "t5", "beams": 8, "model": "mask"},
        "chat": {"model": "fake-chat:"},
        "object_swap": {
            "model": "mask, fake-mask:",
            "min_votes": 1,
            "min_probability": 0.0,
            "vocabulary": "model",
            "top": 20,
        },
    }
    names = {param.name for param in METHODS[recipe.method].params}
    given: dict[str, object] = {"mask_fill": {"model": "mask", "min_corpus": 99}}.get(recipe.method, {})
    given = {**given, **named.get(recipe.method, {})}
    if recipe.method in ("proficiency_object", "proficiency_action"):
        given = {"model": "mask", "spans": "t5", **given, "nli": "nli", "cola": "cola", "lm": "mask"}
    if recipe.method == "preposition" and "model" not in recipe.params:
        given = {}
    given |= {"min_corpus": 1} if recipe.method == "preposition" else {}
    given |= {name: value for name, value in (("detector", "detector"), ("device", "cpu")) if name in names}
    filters = {
        "nli": {"model": "nli"},
        "grammaticality": {"cola": "cola", "lm": "mask"},
        "frequency": {"more_than": 0},
        "perplexity": {"model": "lm"},
        "meaning": {"model": "sentence", "vectors": VECTORS, "sentence_max": 1.01},
    }
    told = [f"{name}={placed(value, models)}" for name, value in given.items()]
    for name in recipe.filters:
        told += [f"{name}.{key}={placed(value, models)}" for key, value in filters.get(name, {}).items()]
    return told


def placed(value: object, models: dict[str, str]) -> object:
    return ", ".join(models.get(piece, piece) for piece in value.split(", ")) if isinstance(value, str) else value


def imported(slug: str, project) -> None:
    """The recipe's sources as rows, the maker's captions where it has one."""
    recipe = RECIPES[slug]
    for n, (text, facts) in enumerate(SOURCES[slug]):
        video = make_video(project, split="train", category="all", key=f"v{n}")
        made = [MadeCaption("s", text, "", "", facts)]
        if recipe.captioner:
            entry = CAPTIONERS[recipe.captioner]
            params = parse_params(entry, recipe.captioner_params)
            source = CaptionInput("s", text, facts=facts)
            made = list(load(entry).make([source], params=params, mode="corrected", seed=0))
        for one in made:
            assert isinstance(one, MadeCaption)
            make_caption(video, one.text, facts=dict(one.facts))


def generated(slug: str, project, name: str, models, capsys, **options) -> GenerationRun:
    foils = RECIPES[slug].params.get("foils", 0) if RECIPES[slug].method == "person" else 0
    make_subtest(project, name=name, foils_per_item=foils or 1)
    call_command(
        "generate",
        project=project.slug,
        subtest=name,
        recipe=slug,
        seed=5,
        sync=True,
        as_json=True,
        set=tiny(slug, models),
        **options,
    )
    run = GenerationRun.objects.get(pk=json.loads(capsys.readouterr().out)["run"])
    assert run.job.state == "done", run.job.error
    return run


def told(run: GenerationRun) -> list:
    """Everything that is stored of a run's candidates but their row numbers."""
    rows = Candidate.objects.filter(group__run=run).order_by("id")
    scores = FilterScore.objects.filter(candidate__group__run=run).order_by("candidate_id", "filter")
    fields = ("text", "state", "rank", "edits", "facts", "rejected_by", "model_id", "model_revision", "seed", "mode")
    return [list(rows.values_list(*fields)), list(scores.values_list("filter", "score", "passed", "detail"))]


def test_every_recipe_has_a_test():
    # Those of kinds by a model are run in tests/generation/test_kinds_by_model.py.
    assert set(SOURCES) == {slug for slug in RECIPES if not slug.startswith("model-")}


@pytest.mark.parametrize("slug", sorted(SOURCES))
def test_a_recipe_runs_reproducibly_from_sources_to_queued_candidates(slug, models, capsys, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    project = make_project()
    imported(slug, project)
    if slug == "vilma-rare-object":
        film(project, tmp_path)
    run = generated(slug, project, "first", models, capsys)
    recipe = find_recipe(slug)
    # What models make has few opposites: those that the draw alone left out count, too.
    passed = Q(state=CandidateState.QUEUED) | Q(held_back_by=DRAW)
    queued = Candidate.objects.filter(passed, group__run=run)
    if recipe.method == "person":
        assert CandidateGroup.objects.filter(run=run, skipped_why="").exists()
        return
    assert queued.filter(state=CandidateState.QUEUED).exists() or recipe.method in BY_MODEL
    assert queued.exists(), (run.skipped, told(run))
    for candidate in queued:
        assert (candidate.method, candidate.method_version) == (recipe.method, load(METHODS[recipe.method]).VERSION)
        assert (candidate.mode, candidate.seed) == ("corrected", 5)
        assert candidate.edits
        assert candidate.text != candidate.group.caption.text
        if recipe.method in BY_MODEL and slug != "vilma-spatial-unranked" and candidate.facts.get("stage") != 3:
            assert candidate.model_id
            assert candidate.model_revision
    scored = FilterScore.objects.filter(candidate__in=queued).values_list("filter", flat=True)
    assert set(scored) == set(recipe.filters_in("corrected"))
    assert AuditEvent.objects.get(action="generation.start_run").details["recipe"] == f"{slug}@{recipe.version}"
    assert told(generated(slug, project, "second", models, capsys)) == told(run)


def film(project, tmp_path) -> None:
    """A real file for the first video: the detector looks at it."""
    write_mp4(tmp_path / "dot.mp4", moving_dot(8), 12.0)
    video = Caption.objects.filter(video__project=project).first().video
    video.media_state, video.sha256 = MediaState.READY, "cd" * 32
    video.file.save("dot.mp4", ContentFile((tmp_path / "dot.mp4").read_bytes()))


def test_mode_paper_uses_the_recipes_parameters_for_it(models, capsys):
    project = make_project()
    imported("contrast-verb-lm", project)
    run = generated("contrast-verb-lm", project, "paper", models, capsys, mode="paper")
    (perplexity,) = [row for row in run.filters if row["slug"] == "perplexity"]
    assert perplexity["params"]["formula"] == "paper"
    assert run.mode == "paper"
    assert find_recipe("contrast-verb-lm").filters_in("corrected")["perplexity"].get("formula") is None


@pytest.mark.parametrize("slug", ["vilma-spatial", "vilma-spatial-unranked"])
def test_clipping_counts_the_prepositions_of_the_mode(slug):
    assert find_recipe(slug).filters_in("paper")["frequency_clipping"] == {"relations": "paper"}
    assert list(find_recipe(slug).filters_in("corrected"))[-1] == DRAW
    assert DRAW not in find_recipe(slug).filters_in("paper")


@pytest.mark.parametrize("slug", sorted(RECIPES))
def test_a_recipe_has_known_methods_filters_and_parameters(slug):
    recipe = RECIPES[slug]
    parse_params(METHODS[recipe.method], recipe.params)
    for name, params in (*recipe.filters.items(), *recipe.paper.items()):
        parse_params(FILTERS[name], params)
    assert recipe.version
    assert recipe.label
    # Of no paper: the kinds of our own.
    assert recipe.source or slug.startswith(("temporal-", "model-"))


@pytest.mark.parametrize("slug", ["vilma-action-replacement", "vilma-rare-verb", "contrast-verb-lm"])
def test_filters_judge_all_words_of_the_model(slug):
    params = parse_params(METHODS[RECIPES[slug].method], RECIPES[slug].params)
    assert params["foils"] >= params["top"] > 5


def test_a_caption_whose_five_best_words_are_rejected_keeps_the_next(tmp_path):
    model = str(folders.masked_lm(tmp_path / "model"))
    method = step(
        "mask_fill",
        **{**RECIPES["vilma-action-replacement"].params, "model": model, "device": "cpu", "tagger": "offline"},
    )
    captions = [CaptionInput("c", "a man folds a red shirt")]
    state = pipeline.prepare(method, captions, mode="paper", seed=0)
    (first,) = pipeline.run(method, captions, mode="paper", seed=0, state=state)
    best = [judged.draft.foil for judged in first.foils[:5]]
    rejecting = [pipeline.Step("duplicate", load(FILTERS["duplicate"]), {})]
    (again,) = pipeline.run(
        method, captions, filters=rejecting, mode="paper", seed=0, state=state, known_foils={"c": best}
    )
    assert [judged.rejected_by for judged in again.foils[:5]] == [("duplicate",)] * 5
    assert any(not judged.rejected_by for judged in again.foils)


def test_an_unknown_recipe_lists_the_known_ones():
    with pytest.raises(GenerationError, match="choose one of: contrast-gender"):
        find_recipe("nothing")
