"""The protocols: which frames, how frames are pooled, how likelihood becomes perplexity, which items count."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from django.conf import settings
from tokenizers import processors

from evaluation.errors import EvaluationError
from evaluation.metrics.ties import POLICIES
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring import jobs
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.clip_keys import MAX_KEY_LENGTH, Keyed, score_key
from evaluation.scoring.fetching import Clip
from evaluation.scoring.models import Score
from evaluation.scoring.protocol_models import (
    AsPerplexity,
    PooledFrames,
    mean_of_logits,
    mean_of_softmax,
    reader,
    scores_by_item,
    under_protocol,
)
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.queries import release_scores, run_results
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Foil, Subtest
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.hub.adapters.fake import FakeEmbedder, FakeScorer
from foilworks.core.hub.interfaces import ModelInfo, ScoreKind
from foilworks.core.hub.opening import open_adapter
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.probe import file_sha256
from tests import factories
from tests.hub import folders
from tests.hub.folders import byte_tokenizer
from tests.media.painted import painted_clip

PAPER, CODE = PROTOCOLS["vilma-2024-paper"], PROTOCOLS["vilma-2024-code"]
SIZE = (16, 16)


class Brightness:
    """An image model by hand: the logit of a text on a frame is the frame's brightness times the text's length."""

    def __init__(self, frames: int = 8) -> None:
        self.info = ModelInfo(
            "brightness", "1", ScoreKind.COSINE, frames=frames, size=SIZE, card={"category": "image-text"}
        )

    def encode_video(self, clips, meta):
        return np.stack([clip.mean(axis=(1, 2, 3), dtype=np.float32)[:, None] / 255 for clip in clips])

    def encode_text(self, texts):
        return np.array([[len(text)] for text in texts], dtype=np.float32)

    def score(self, videos, texts):
        return mean_of_logits(self.frame_logits(videos, texts))

    def frame_logits(self, videos, texts):
        return videos @ texts.T


class TestPooling:
    def test_by_hand(self):
        logits = np.array([[[0.0, 0.0], [math.log(3), 0.0]]], dtype=np.float32)
        assert mean_of_logits(logits)[0] == pytest.approx([math.log(3) / 2, 0])
        assert mean_of_softmax(logits)[0] == pytest.approx([0.625, 0.375])

    def test_a_softmax_of_large_logits_stays_finite(self):
        assert mean_of_softmax(np.array([[[5000.0, 0.0]]], dtype=np.float32))[0] == pytest.approx([1, 0])

    def test_image_models_are_pooled_and_others_left_alone(self):
        assert isinstance(under_protocol(Brightness(), PAPER), PooledFrames)
        assert under_protocol(Brightness(), PAPER).info.kind == ScoreKind.LOGIT
        plain = Brightness()
        assert under_protocol(plain, PROTOCOLS["foilworks"]) is plain
        video = FakeEmbedder()
        assert under_protocol(video, CODE) is video
        assert [scores_by_item(Brightness(), each) for each in (PAPER, CODE)] == [False, True]
        assert not scores_by_item(video, CODE)

    def test_image_models_see_eight_frames(self):
        with pytest.raises(EvaluationError, match=r"shows image models 8 frames, but brightness takes 4; .*\?frames=8"):
            under_protocol(Brightness(frames=4), PAPER)


class TestPerplexity:
    def test_it_is_exp_of_the_mean_negative_log_likelihood(self):
        model = under_protocol(FakeScorer(), PAPER)
        assert isinstance(model, AsPerplexity)
        assert not model.info.higher_is_better
        plain = FakeScorer().score(None, ["a dog runs"])[0]
        (found,) = model.score(None, ["a dog runs"])
        assert found.value == pytest.approx(math.exp(-plain.parts["sum"] / 3))
        assert isinstance(under_protocol(FakeScorer(), PROTOCOLS["foilworks"]), FakeScorer)

    @pytest.mark.parametrize("starts", [False, True], ids=["as GPT-2", "as OPT"])
    def test_the_released_code_puts_no_start_token_of_its_own_and_divides_by_all_tokens(self, tmp_path, starts):
        """It asks the model about what the tokenizer gave, guesses every token but the first, divides by their number;
        OPT's tokenizer begins with </s>, GPT-2's with the text."""
        folder = folders.causal_lm(tmp_path / "lm")
        tokenizer = byte_tokenizer()
        tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single="</s> $A" if starts else "$A", special_tokens=[("</s>", 2)]
        )
        tokenizer.save_pretrained(folder)
        model = open_adapter(f"lm:{folder}", device="cpu")
        texts = ["a dog jumps on the table", "a ring"]
        for text, score in zip(texts, under_protocol(model, CODE).score(None, texts), strict=True):
            ids = torch.tensor([model.tokenizer(text)["input_ids"]])
            assert (ids[0, 0] == 2) == starts
            with torch.inference_mode():
                logits = model.model(input_ids=ids).logits[0, :-1]
            cost = torch.nn.functional.cross_entropy(logits, ids[0, 1:], reduction="sum")
            assert score.value == pytest.approx(math.exp(cost / ids.shape[1]), rel=1e-3)
        paper, code = ([one.value for one in under_protocol(model, each).score(None, texts)] for each in (PAPER, CODE))
        assert paper != pytest.approx(code, rel=1e-2)

    def test_a_text_of_one_token_has_no_predicted_token(self, tmp_path):
        model = open_adapter(f"lm:{folders.causal_lm(tmp_path / 'lm')}", device="cpu")
        model.tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(single="$A")
        assert [one.value for one in under_protocol(model, CODE).score(None, ["a", ""])] == [1, 1]


class TestFrames:
    @pytest.fixture
    def clip(self, tmp_path):
        path = tmp_path / "clip.mp4"
        write_mp4(path, painted_clip(40), fps=8)
        return path

    def info(self, **card):
        return ModelInfo("m", "1", ScoreKind.COSINE, frames=8, size=SIZE, card=card)

    def test_consecutive_frames_are_within_the_trim(self, clip):
        frames, meta = reader(CODE)(Clip("c", clip, 1.0, None), self.info())
        assert len(frames) == 8
        assert 1 <= meta.times[0] <= 4 - 1 / 8
        assert np.diff(meta.times) == pytest.approx([1 / 8] * 7)
        assert reader(CODE)(Clip("other key", clip, 1.0, None), self.info())[1].times == meta.times

    def test_a_short_clip_repeats_its_last_frame(self, clip):
        frames, meta = reader(CODE)(Clip("c", clip, 4.5, None), self.info())
        assert meta.times == pytest.approx([4.5, 4.625, 4.75, 4.875, *[4.875] * 4])
        assert (frames[3] == frames[7]).all()

    def test_the_paper_takes_the_centres_of_equal_bins(self, clip):
        assert reader(PAPER)(Clip("c", clip), self.info())[1].times == pytest.approx(
            [int((k + 0.5) * 5 / 8 * 8) / 8 for k in range(8)]
        )

    def test_a_model_that_uses_intervals_sees_their_middles(self, clip):
        info = self.info(interval_seconds=2)
        assert reader(PAPER)(Clip("c", clip), info)[1].times == pytest.approx([1.0, 3.0])
        assert reader(PAPER)(Clip("c", clip, 0, 1), info)[1].times == pytest.approx([0.5])


class TestKeys:
    VIDEO = {
        "sha256": "0" * 64,
        "source_dataset": "",
        "source_id": "",
        "key": "k",
        "start_time": 1.0,
        "end_time": None,
        "time_unit": "sec",
    }

    def key(self, texts, **video):
        return score_key(Keyed.TEXTS, {"id": "moves:a", "video": {**self.VIDEO, **video}}, "main", texts)

    def test_keys_depend_on_clip_and_texts_and_not_on_their_order(self):
        assert self.key(("a", "b")) == self.key(("b", "a", "b"))
        others = [
            self.key(("a",)),
            self.key(("ab",)),
            self.key(("a", "b"), sha256="1" * 64),
            self.key(("a", "b"), start_time=2.0),
        ]
        assert len({self.key(("a", "b")), *others}) == 5

    def test_they_fit_where_they_are_stored(self):
        long = {"sha256": "", "source_id": "s" * 150}
        assert Score._meta.get_field("clip_key").max_length == MAX_KEY_LENGTH
        assert max(len(self.key(("a", "b"), **video)) for video in ({}, long)) <= MAX_KEY_LENGTH
        assert self.key(("a", "b"), **long) != self.key(("a", "c"), **long)


def test_every_protocol_has_a_known_policy():
    assert {protocol.ties for protocol in PROTOCOLS.values()} <= set(POLICIES)
    assert (PAPER.ties, CODE.ties) == ("strict", "first")


@pytest.mark.django_db
class TestRuns:
    @pytest.fixture
    def release(self):
        return self.made("clip", painted_clip(16))

    def made(self, name, frames):
        """Two items on one clip, of which the first has a proficiency pair."""
        project = factories.make_project(slug=name)
        simple = factories.make_subtest(project, name="things", kind=Subtest.Kind.PROFICIENCY)
        main = factories.make_subtest(project, name="moves")
        path = Path(settings.MEDIA_ROOT) / f"videos/{name}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_mp4(path, frames, fps=8)
        video = factories.make_video(project, file=f"videos/{name}.mp4", sha256=file_sha256(path)[0])
        easy = factories.make_item(simple, factories.make_caption(video, "a thing"), ("no",), state=ItemState.VALID)
        for key, foil, pair in (("a", "a ball", easy), ("b", "a longer foil than it", None)):
            caption = factories.make_caption(video, f"a ball rises {key}")
            factories.make_item(main, caption, (foil,), key=key, state=ItemState.VALID, proficiency_item=pair)
        return freeze_release(None, project)

    @pytest.fixture
    def image_model(self, monkeypatch):
        monkeypatch.setattr(jobs, "open_adapter", lambda spec, **_: Brightness())

    def run(self, release, protocol, spec="fake:1"):
        run = start_run(None, release, RunRequest(spec, protocol=protocol))
        assert run_now(run.job).state == JobState.DONE
        run.refresh_from_db()
        return run

    def test_a_softmax_belongs_to_its_item(self, release, image_model):
        run = self.run(release, "vilma-2024-code")
        rows, missing = release_scores(run)
        assert missing == []
        for row in rows:
            assert row.caption + sum(row.foils) == pytest.approx(1)
        paired = next(row for row in rows if row.proficiency_caption is not None)
        assert paired.proficiency_caption + sum(paired.proficiency_foils) == pytest.approx(1)
        assert Score.objects.count() == 6

    def test_a_softmax_over_different_texts_has_a_different_key(self, release, image_model):
        """A foil that is put right between two releases: rows of two softmaxes in one item would not sum to 1, and the
        caption could win by what it got among others."""
        first = self.run(release, "vilma-2024-code")
        before, _missing = release_scores(first)
        Foil.objects.filter(text="a ball").update(text="a ball that goes up and down")
        second = self.run(freeze_release(None, release.project), "vilma-2024-code")
        assert second.model_key == first.model_key
        rows, missing = release_scores(second)
        assert missing == []
        assert [row.caption + sum(row.foils) for row in rows] == pytest.approx([1, 1])
        assert (before[0].caption > before[0].foils[0], rows[0].caption > rows[0].foils[0]) == (True, False)
        # What did not change is not asked again, and what the first release has stays as it is.
        assert rows[1].caption == before[1].caption
        assert Score.objects.count() == 6 + 2
        assert release_scores(first)[0] == before

    def test_an_item_of_another_project_has_a_different_key(self, release, image_model):
        """Its subtest, id and texts are the same, its video is not."""
        self.run(release, "vilma-2024-code")
        other = self.made("another", painted_clip(16)[::-1])
        run = self.run(other, "vilma-2024-code")
        assert [row.id for row in release_scores(run)[0]] == ["moves:a", "moves:b"]
        assert Score.objects.count() == 2 * 6

    def test_the_mean_of_logits_belongs_to_its_clip(self, release, image_model):
        run = self.run(release, "vilma-2024-paper")
        rows, _missing = release_scores(run)
        # Brightness times length: the ratio of two scores on a clip is that of the lengths.
        assert rows[0].caption / rows[0].foils[0] == pytest.approx(len("a ball rises a") / len("a ball"))
        assert Score.objects.count() == 6

    def test_items_without_a_valid_pair_do_not_count(self, release, image_model):
        results = run_results(self.run(release, "vilma-2024-paper"), draws=10)
        assert (results["overall"]["n"], results["overall"]["n_all"]) == (1, 1)
        assert results["left_out"] == ["moves:b"]
        assert run_results(self.run(release, "foilworks"), draws=10)["overall"]["n_all"] == 2

    def test_scores_of_an_older_protocol_version_are_computed_again(self, release):
        keys = [self.run(release, name, "fake:text").model_key for name in ("foilworks", "vilma-2024-code")]
        assert keys == ["fake/text/0@1", f"fake/text/0@1 protocol={CODE.version}"]

    def test_scores_of_an_older_choice_of_intervals_are_computed_again(self, release, monkeypatch):
        model = Brightness()
        model.info.card["interval_seconds"] = 1
        monkeypatch.setattr(jobs, "open_adapter", lambda spec, **_: model)
        # Scores of version 1 stand under the bare key, and may be of another number of frames.
        assert self.run(release, "foilworks").model_key == "brightness@1 interval-middles/3"

    def test_perplexities_and_likelihoods_are_stored_separately(self, release):
        for protocol in ("foilworks", "vilma-2024-paper"):
            self.run(release, protocol, "fake:text")
        kinds = Score.objects.values_list("protocol", "kind", "higher_is_better").distinct()
        assert set(kinds) == {("foilworks", "log_likelihood", True), ("vilma-2024-paper", "perplexity", False)}
