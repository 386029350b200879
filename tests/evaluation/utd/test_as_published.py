"""Files in the published form: every cell equals an independent implementation of the authors' procedure."""

import hashlib
import json
from functools import cache

import numpy as np
import pytest

from evaluation.utd import measuring
from evaluation.utd.actions.biases import measure_bias
from evaluation.utd.actions.descriptions import import_descriptions
from evaluation.utd.instructions import CLASSIFICATION, RETRIEVAL
from evaluation.utd.requests import BiasRequest
from foilworks.core.corpus.models import Video
from foilworks.core.hub.interfaces import ModelInfo, ScoreKind
from foilworks.core.jobs.runner import run_now
from tests.evaluation.utd import authors
from tests.factories import make_caption, make_project, make_video

pytestmark = pytest.mark.django_db

CLASSES = ("ApplyEyeMakeup", "BasketballDunk", "CliffDiving", "Knitting")
TEXTS = dict(zip(CLASSES, ("apply eye makeup", "basketball dunk", "cliff diving", "knitting"), strict=True))
THINGS = ("mirror", "brush", "ball", "hoop", "rock", "sea", "wool", "needle")
FRAMES = 8
D = 48


class WordVectors:
    """An encoder without ties: a vector per word, weighted by its place."""

    info = ModelInfo("words", "1", ScoreKind.COSINE, needs_video=False)

    def encode_text(self, texts):
        return np.stack([self._one(text) for text in texts])

    def _one(self, text):
        words = text.lower().split()
        weights = 1 + 0.1 * np.sin(np.arange(len(words)))
        return sum(weight * _word(word) for weight, word in zip(weights, words, strict=True)).astype(np.float32)


@cache
def _word(word):
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
    return np.random.default_rng(seed).normal(size=D) + 0.3


def annotation(draw, label, with_summary):
    """Texts of one video as they are published: no activity is an empty string, objects are repeated."""
    own = THINGS[2 * label : 2 * label + 2]
    things = [draw.choice([*own, *own, *THINGS], 3) for _ in range(FRAMES)]
    acts = [f"A person is using the {one[0]}." if draw.random() > 0.4 else "" for one in things]
    found = {
        "objects+composition+activities": [
            f"In the photo, there is a {one[0]}.\n\nA {one[1]} is near." for one in things
        ],
        "objects": [", ".join(one) + ("." if draw.random() > 0.8 else "") for one in things],
        "activities": acts,
        "verbs": [
            "Someone is using something." if act and "ball" in act else "Someone moves." * bool(act) for act in acts
        ],
    }
    if with_summary:
        found["objects+composition+activities_15_words"] = [f"A {one[0]} near a {one[1]}" for one in things]
    return found


@pytest.fixture
def published(tmp_path, monkeypatch):
    """The files of a train split without summaries and of a test split, and their project."""
    draw = np.random.default_rng(5)
    project = make_project(slug="ucf")
    files = {}
    for split, n in (("train", 48), ("test", 40)):
        for at in range(n):
            label = at % len(CLASSES)
            key = f"v_{CLASSES[label]}_g{at:02d}_{split}"
            video = make_video(project, key=f"{key}.avi", split=split, class_label=CLASSES[label], sha256=key)
            told = files.setdefault(split, {})[key] = annotation(draw, label, split == "test")
            if split == "test":
                for number in range(1 + at % 3):
                    make_caption(video, f"{told['objects'][number]} number {at}", key=f"{key}-{number}")
        # A video whose middle frame, and one none of whose frames, shows an activity.
        first, second = list(files[split].values())[:2]
        first["activities"][3] = first["verbs"][3] = ""
        second["activities"], second["verbs"] = [""] * FRAMES, [""] * FRAMES
    paths = []
    for split, told in files.items():
        paths.append(tmp_path / f"annotations_ucf_{split}list01.json")
        paths[-1].write_text(json.dumps(told))
    monkeypatch.setattr(measuring, "open_helper", lambda *args, **options: WordVectors())
    return project, import_descriptions(None, project, paths), files


def measured(descriptions, **options):
    run = measure_bias(None, descriptions, BiasRequest(encoder="sentence:words", **options))
    done = run_now(run.job)
    assert done.state == "done", done.error
    run.refresh_from_db()
    return run


def cells(run, kind):
    return {(row["concept"], cell["temporal"]): cell for row in run.result[kind] for cell in row["cells"]}


def test_every_cell_equals_the_independent_implementation(published):
    _, told, files = published
    run = measured(told, task=CLASSIFICATION, class_texts=TEXTS)
    embed = WordVectors().encode_text
    train, test = list(files["train"].values()), list(files["test"].values())
    train_labels, labels = np.arange(48) % 4, np.arange(40) % 4
    targets = [[TEXTS[name]] for name in CLASSES]
    common, dataset = cells(run, "common"), cells(run, "dataset")
    for concept in authors.CONCEPTS:
        for time in authors.TIMES:
            expected = authors.common_sense(embed, test, labels, targets, concept, time)
            assert common[concept, time]["value"] == pytest.approx(expected, abs=1e-6), (concept, time)
        if concept in train[0] and concept != "objects+composition+activities":
            expected = authors.dataset(embed, train, train_labels, test, labels, concept)
            assert dataset[concept, "sequence"]["value"] == pytest.approx(expected, abs=1e-6), concept
    # Without a difference between cells, the comparison would say nothing.
    assert len({round(cell["value"], 4) for cell in common.values()}) > 6


@pytest.mark.full
def test_a_caption_is_the_mean_of_its_video_s_captions(published):
    project, told, files = published
    run = measured(told, task=RETRIEVAL)
    test = list(files["test"].values())
    captions = [
        list(
            Video.objects.get(project=project, key=f"{key}.avi").captions.order_by("pk").values_list("text", flat=True)
        )
        for key in files["test"]
    ]
    assert max(map(len, captions)) == 3
    common = cells(run, "common")
    for concept in authors.CONCEPTS:
        for time in authors.TIMES:
            expected = authors.retrieval(WordVectors().encode_text, test, captions, concept, time)
            assert common[concept, time]["value"] == pytest.approx(expected, abs=1e-6), (concept, time)
    first = measured(told, task=RETRIEVAL, options={"captions": "first"})
    assert cells(first, "common")["objects", "sequence"]["value"] != common["objects", "sequence"]["value"]
    shared = cells(measured(told, task=RETRIEVAL, options={"ties": "share"}), "common")
    assert shared["activities", "middle"]["value"] > common["activities", "middle"]["value"]
    assert first.predictions["ids"][0] == "v_ApplyEyeMakeup_g00_test-0"
    assert run.predictions["ids"][0] == "v_ApplyEyeMakeup_g00_test.avi"


def test_train_files_without_summaries_give_splits_from_objects_and_name_what_is_missing(published):
    _, told, _ = published
    (problem,) = told.problems["missing_texts"]
    assert problem == (
        "48 of 48 train videos have no 15-word summaries; without them: "
        "dataset bias of objects+composition+activities, sequence"
    )
    run = measured(told, task=CLASSIFICATION)
    assert (run.result["n"], run.result["n_train"], run.result["without"]) == (40, 48, [])
    dataset = cells(run, "dataset")
    lost = dataset["objects+composition+activities", "sequence"]
    assert (lost["value"], lost["ci"], lost["n"]) == (None, None, 0)
    assert dataset["objects+composition+activities", "average"]["n"] == 40
    assert dataset["objects", "sequence"]["value"] > 0.5
    assert [row["concept"] for row in run.result["gains"]] == ["objects", "activities", "verbs"]
    assert run.result["split"]["n"] == 40
    (missing,) = run.result["missing"]
    assert (missing["split"], missing["text"], missing["n"], missing["of"]) == ("train", "summary", 48, 48)


@pytest.mark.full
def test_the_other_rules_are_options_and_change_the_cells(published):
    _, told, _ = published
    base = cells(measured(told, task=CLASSIFICATION), "common")
    for option, changed, unchanged in (
        ({"empty_frames": "sentence"}, ("activities", "average"), ("objects", "average")),
        ({"numbering": "paper"}, ("activities", "sequence"), ("objects", "average")),
        ({"texts": "cleaned"}, ("objects", "sequence"), ("verbs", "average")),
    ):
        run = measured(told, task=CLASSIFICATION, options=option)
        assert run.params | option == run.params
        found = cells(run, "common")
        assert found[unchanged]["value"] == base[unchanged]["value"], option
        assert found[changed]["value"] != base[changed]["value"], option
