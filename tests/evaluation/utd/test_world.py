"""UTD from videos to biases and splits, on the demo's world: what is planted is found, what is not there is chance.

Once with the reader of the world, once with a captioner that is trained here.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.db import transaction
from django.test import override_settings

from evaluation.utd import describing
from evaluation.utd.actions.biases import measure_bias
from evaluation.utd.actions.descriptions import describe_videos
from evaluation.utd.concepts import AVERAGE, DESCRIPTION, OBJECTS, SEQUENCE, VERBS
from evaluation.utd.describing import ByGenerator
from evaluation.utd.instructions import CLASSIFICATION, RETRIEVAL
from evaluation.utd.models import BiasRun, Descriptions, FrameText
from evaluation.utd.recipes import DEMO
from evaluation.utd.requests import BiasRequest, DescriptionRequest
from foilworks.core.hub.adapters.fake import FakeGenerator, FakeReader
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Project
from tests.evaluation.utd import captioner, worlds
from tests.factories import make_project

CLIPS = 24
READER, TRAINED = "reader", "trained"
WAYS, SHAPES = 4, 6


@dataclass
class Measured:
    """One describer on the world: its texts, and a bias run for each choice of classes; and one on a biased world."""

    descriptions: Descriptions
    directions: BiasRun
    shapes: BiasRun
    captions: BiasRun
    planted: BiasRun


@dataclass
class World:
    plain: Project
    planted: Project
    by: dict[str, Measured]


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[World]:
    """24 clips; and 24 with 24 to learn from, whose colour goes with their direction. Rolled back at the end."""
    home = tmp_path_factory.mktemp("utd")
    folders = {name: home / name.lower() for name in ("MEDIA_ROOT", "MODEL_ROOT", "CACHE_ROOT")}
    with django_db_blocker.unblock(), transaction.atomic(), override_settings(**folders):
        found = World(make_project(slug="utd-plain"), make_project(slug="utd-planted"), {})
        worlds.film(found.plain, home / "plain", worlds.scenes(1, 1), "test", worlds.shape)
        for split, seed in (("test", 2), ("train", 3)):
            shown = [worlds.coloured_by_direction(scene) for scene in worlds.scenes(1, seed)]
            worlds.film(found.planted, home / split, shown, split, worlds.direction)
        found.by[READER] = _measured(found, READER)
        with pytest.MonkeyPatch.context() as patch:
            model = captioner.train(worlds.scenes(3, 9))
            patch.setattr(describing, "open_describer", lambda spec, params, spending: ByGenerator(model, 60, 0.0))
            found.by[TRAINED] = _measured(found, TRAINED, describer="vlm:trained-here")
        yield found
        transaction.set_rollback(True)


def _measured(world: World, name: str, **models: str) -> Measured:
    plain, planted = (
        describe_videos(None, project, DescriptionRequest(recipe=DEMO, name=name, **models))
        for project in (world.plain, world.planted)
    )
    for made in (plain, planted):
        assert run_now(made.job).state == "done"
        made.refresh_from_db()
    runs = [
        measure_bias(None, plain, BiasRequest(task=CLASSIFICATION, labels="facts:direction")),
        measure_bias(None, plain, BiasRequest(task=CLASSIFICATION)),
        measure_bias(None, plain, BiasRequest(task=RETRIEVAL)),
        measure_bias(None, planted, BiasRequest(task=CLASSIFICATION)),
    ]
    for run in runs:
        assert run_now(run.job).state == "done"
        run.refresh_from_db()
    return Measured(plain, *runs)


@pytest.fixture(params=[READER, TRAINED])
def measured(request, world) -> Measured:
    return world.by[request.param]


def cell(run: BiasRun, concept: str, temporal: str = SEQUENCE, kind: str = "common") -> float:
    row = next(row for row in run.result[kind] if row["concept"] == concept)
    return next(one["value"] for one in row["cells"] if one["temporal"] == temporal)


@pytest.mark.django_db
class TestTheDemosWorld:
    @pytest.mark.full
    def test_every_frame_has_its_texts_and_their_sources(self, measured):
        rows = FrameText.objects.filter(descriptions=measured.descriptions)
        assert rows.count() == CLIPS * 8
        assert measured.descriptions.problems == {}
        row = rows.order_by("video", "place")[3]
        assert row.raw[DESCRIPTION].startswith("There is a ")
        assert set(row.raw) == {DESCRIPTION, OBJECTS, "activities", VERBS, "summary"}
        assert row.time == pytest.approx(3.5 / 8 * 2.0, abs=1 / 12)
        assert row.described_by.settings["frames"] == 8
        assert row.extracted_by.spec == "fake-reader:"
        assert row.extracted_by.settings["prompts"] == "2"

    def test_objects_reveal_the_shape_and_not_the_direction(self, measured):
        assert cell(measured.shapes, OBJECTS) >= 0.9
        assert abs(cell(measured.directions, OBJECTS) - 1 / WAYS) <= 0.1

    def test_verbs_reveal_the_direction_and_not_the_shape(self, measured):
        assert cell(measured.directions, VERBS) >= 0.9
        assert abs(cell(measured.shapes, VERBS) - 1 / SHAPES) <= 0.1

    def test_the_order_of_frames_reveals_the_direction(self, measured):
        assert cell(measured.directions, VERBS, SEQUENCE) >= cell(measured.directions, VERBS, AVERAGE) + 0.3

    def test_without_train_clips_there_is_neither_dataset_bias_nor_a_split(self, measured):
        found = measured.directions.result
        assert (found["dataset"], found["gains"], found["split"]) == (None, None, None)
        assert measured.directions.predictions is None

    def test_a_colour_tied_to_a_class_is_dataset_bias(self, measured):
        common = cell(measured.planted, OBJECTS)
        assert cell(measured.planted, OBJECTS, kind="dataset") >= common + 0.3
        gain = next(row for row in measured.planted.result["gains"] if row["concept"] == OBJECTS)
        assert gain["difference"] >= 0.3
        assert gain["difference_ci"][0] > 0

    def test_the_split_leaves_out_exactly_what_all_nine_solve(self, measured):
        for run in (measured.planted, measured.captions):
            stored, split = run.predictions, run.result["split"]
            solved = [name for name, row in zip(stored["ids"], stored["correct"], strict=True) if row == "1" * 9]
            assert split["removed"] == solved
            assert split["n_biased"] == len(solved)
        # The planted colour gives most directions away.
        assert measured.planted.result["split"]["share_biased"] >= 0.5

    def test_retrieval_has_both_galleries_and_no_dataset_bias(self, measured):
        found = measured.captions.result
        assert found["dataset"] is None
        assert found["split"]["removed_balanced"] is None
        assert found["chance"] == pytest.approx(1 / (CLIPS))
        for row in found["galleries"]:
            assert row["reduced"] >= row["full"]


@pytest.mark.django_db
def test_no_text_is_described_or_embedded_twice(world, monkeypatch):
    def asked(*args: object) -> None:
        raise AssertionError("a model was asked again")

    monkeypatch.setattr(FakeGenerator, "generate", asked)
    monkeypatch.setattr(FakeReader, "replies", asked)
    made = world.by[READER].descriptions
    again = describe_videos(None, world.plain, DescriptionRequest(recipe=DEMO, name="again"))
    assert run_now(again.job).state == "done"
    ours, theirs = (
        list(FrameText.objects.filter(descriptions=each).values_list("video", "place", "time", "raw"))
        for each in (again, made)
    )
    assert ours == theirs
