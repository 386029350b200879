"""Models that write: one interface test for a real architecture and the fake, and what the fake sees of the demo."""

from pathlib import Path

import numpy as np
import pytest

from foilworks.core.hub.catalogue.registry import ENCODER, GENERATORS
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import GenerationRequest, Generator
from foilworks.core.hub.opening import open_generator, open_helper
from foilworks.site.demo import captions
from foilworks.site.demo.shape_videos import counting_scenes, draw, evaluation_scenes
from tests.hub import generative_folders

NAMES = {
    "fake-generator": lambda _: "fake-generator:",
    "vlm": lambda folder: f"vlm:{generative_folders.internvl(folder / 'm')}?frames=8",
}


@pytest.fixture(params=NAMES)
def generator(request: pytest.FixtureRequest, tmp_path: Path) -> Generator:
    return open_generator(NAMES[request.param](tmp_path), device="cpu")


def test_every_generator_of_the_table_is_tested_here() -> None:
    assert set(NAMES) == {*GENERATORS, "vlm"}


def test_one_text_per_request_in_order_within_the_word_limit(generator: Generator) -> None:
    clips = [draw(scene, 64)[::3] for scene in evaluation_scenes(1, 0)]
    requests = [
        GenerationRequest("Describe the video.", clips[0], 6),
        GenerationRequest('List all objects in "a red ring moves".', None, 3),
        GenerationRequest("Describe the video.", clips[1], 2),
        GenerationRequest("Describe the video.", clips[0], 6),
    ]
    texts = generator.generate(requests)
    assert isinstance(generator, Generator)
    assert [len(text.split()) <= request.max_words for text, request in zip(texts, requests, strict=True)] == [True] * 4
    assert texts[0] == texts[3]
    assert generator.generate([]) == []
    assert generator.info.frames == 8


def test_a_model_that_writes_no_texts_is_refused() -> None:
    with pytest.raises(HubError, match=r"names no model that writes texts about videos; write one of: vlm:…, fake-gen"):
        open_generator("lm:gpt2")


class TestTheFake:
    @pytest.fixture
    def fake(self) -> Generator:
        return open_generator("fake-generator:")

    def test_the_describer_describes_visible_movement(self, fake: Generator) -> None:
        scenes = evaluation_scenes(20, 5)
        plain = [scene for at, scene in enumerate(scenes) if at // 2 % 7 != 3]  # every seventh pair hardly moves
        told = fake.generate([GenerationRequest("Describe.", draw(scene, 96)[::3]) for scene in plain])
        assert told == [captions.direction_caption(scene.facts) for scene in plain]

    def test_the_reader_counts_objects(self, fake: Generator) -> None:
        scenes = counting_scenes(4, 5)
        told = fake.generate([GenerationRequest("Describe.", draw(scene, 96)) for scene in scenes])
        assert told == [captions.counting_caption(scene.facts) for scene in scenes]

    def test_the_describer_answers_choices_by_the_frames(self, fake: Generator) -> None:
        for scene in evaluation_scenes(4, 9)[:6]:
            caption = captions.direction_caption(scene.facts)
            prompt = f"Which one?\nA. {captions.reversed_caption(caption)}\nB. {caption}\nAnswer with the letter."
            assert fake.generate([GenerationRequest(prompt, draw(scene, 96)[::3])]) == ["B"]

    def test_the_describer_extracts_objects_and_activities(self, fake: Generator) -> None:
        told = 'Text: "a red ring moves from left to right"'
        asked = [f"List all objects. {told}", f"List all activities. {told}", 'List all objects. "it rains"']
        found = fake.generate([GenerationRequest(prompt) for prompt in asked])
        assert found == ["ring", "moves from left to right", "nothing"]

    def test_an_empty_picture_shows_nothing(self, fake: Generator) -> None:
        assert fake.generate([GenerationRequest("?", np.zeros((4, 32, 32, 3), np.uint8))]) == ["nothing"]

    def test_the_describer_says_where_things_are_in_a_frame(self, fake: Generator) -> None:
        scene = next(scene for scene in evaluation_scenes(1, 0) if scene.facts.motion == "across")
        first, last = (fake.generate([GenerationRequest("?", draw(scene, 96)[at:][:1])])[0] for at in (0, -1))
        assert first.startswith(f"There is a {scene.facts.colour} {scene.facts.shape} in the photo.")
        assert "at the left" in first
        assert "at the right" in last
        assert fake.generate([GenerationRequest("?", np.zeros((1, 32, 32, 3), np.uint8))]) == ["The photo is empty."]


def test_texts_with_another_word_order_differ() -> None:
    rows = open_helper("fake-words:", ENCODER).encode_text(
        ["from left to right", "from right to left", "from left to right", "a red ring", "", "Instruct: a\nQuery: left"]
    )
    assert np.allclose(rows @ rows.T, (rows @ rows.T).T)
    assert rows[0] @ rows[2] == pytest.approx(1, abs=1e-6)
    assert 0.4 < rows[0] @ rows[1] < 0.9
    assert abs(rows[0] @ rows[3]) < 0.2
    assert rows[4] @ rows[5] < 0.2
