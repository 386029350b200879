"""Models that answer samples from videos: a classifier on a frozen backbone, an image-text model's zero-shot."""

import numpy as np
import pytest
from django.urls import reverse

from evaluation.errors import EvaluationError
from evaluation.utd import reranking, sample_predictions
from evaluation.utd.actions.biases import predict_samples
from evaluation.utd.instructions import CLASSIFICATION, TASKS
from evaluation.utd.requests import PredictionRequest
from evaluation.utd.sample_predictions import Settings, augmented, predicted, train
from foilworks.core.corpus.models import Video
from foilworks.core.hub.adapters.fake import FakeEmbedder
from foilworks.core.hub.catalogue.registry import BACKBONE
from foilworks.core.hub.interfaces import VideoMeta
from foilworks.core.hub.opening import open_helper
from foilworks.core.jobs.runner import execute, run_now
from foilworks.core.projects.models import Role
from tests.evaluation.utd import texts, worlds
from tests.factories import make_member
from tests.hub import video_folders
from tests.jobs.stops import Stop, stopping_at


def test_a_caption_keeps_its_first_videos():
    scores = np.array([[0.1, 0.9, 0.5], [0.5, 0.5, 0.5]], np.float32)
    assert reranking.shortlist(scores, 2).tolist() == [[False, True, True], [True, True, False]]


def painted(label, seed):
    """A clip of one colour, with grain."""
    draw = np.random.default_rng(seed)
    colour = np.array([(200, 40, 40), (40, 40, 200)][label])
    return np.clip(colour + draw.normal(0, 12, (16, 32, 32, 3)), 0, 255).astype(np.uint8)


def test_the_head_learns_from_frozen_tokens_reproducibly(tmp_path):
    backbone = open_helper(str(video_folders.videomae(tmp_path / "b")), BACKBONE, device="cpu")
    labels = np.array([0, 1] * 4)
    clips = [painted(label, at)[: backbone.info.frames] for at, label in enumerate(labels)]

    def read(at):
        return clips[at], VideoMeta()

    settings = Settings(epochs=6, warm_up=1, learning_rate=1e-2, batch=4)
    losses = []

    def heard(*said):
        losses.append(said)

    head = train(backbone, read, labels, ["red", "blue"], settings, device="cpu", on_epoch=heard)
    assert [epoch for epoch, _ in losses] == [1, 2, 3, 4, 5, 6]
    assert losses[-1][1] < 0.5 * losses[0][1]
    assert list(predicted(head, backbone, read, 8, 5, device="cpu")) == labels.tolist()
    again = train(backbone, read, labels, ["red", "blue"], settings, device="cpu")
    assert all((a == b).all() for a, b in zip(head.state_dict().values(), again.state_dict().values(), strict=True))
    with pytest.raises(EvaluationError, match="fewer than two classes"):
        train(backbone, read, np.zeros(8, np.int64), ["red", "blue"], settings)


def test_the_rate_warms_up_and_then_falls_along_a_cosine():
    given = Settings()
    assert [round(sample_predictions._rate(epoch, given), 3) for epoch in (0, 2.5, 5, 27.5, 50)] == [
        0.001,
        0.5,
        1.0,
        0.5,
        0.0,
    ]


def test_crops_are_of_the_paper_s_sizes_and_sided_classes_are_never_mirrored():
    frames = np.zeros((2, 40, 60, 3), np.uint8)
    frames[:, :, :30] = 255
    draw = np.random.default_rng(0)
    made = [augmented(frames, draw, False) for _ in range(20)]
    assert {one.shape for one in made} == {frames.shape}
    assert all(one[0, 20, 0].mean() >= one[0, 20, -1].mean() for one in made)
    mirrored = [augmented(frames, draw, True) for _ in range(20)]
    assert any(one[0, 20, 0].mean() < one[0, 20, -1].mean() for one in mirrored)


class SeesSwimming(FakeEmbedder):
    """Every clip is nearer to that word than to any other."""

    def encode_video(self, clips, meta):
        return np.ones((len(clips), 1), np.float32)

    def encode_text(self, texts):
        return np.array([[float(text == "swims")] for text in texts], np.float32)


@pytest.mark.django_db
class TestByJobs:
    @pytest.fixture
    def run(self, tmp_path):
        """The first eight described videos of each split have a film."""
        project, told = texts.described("things", tmp_path, rounds=1)
        scenes = worlds.scenes(1)
        for video, scene in zip(project.videos.order_by("pk"), scenes, strict=False):
            worlds.attach(video, tmp_path, scene)
        return texts.measured(told)

    def test_a_classifier_is_trained_and_listed_in_the_table(self, client, run, tmp_path):
        folder = str(video_folders.videomae(tmp_path / "b"))
        row = predict_samples(None, run, PredictionRequest(f"backbone:{folder}", label="tiny-mae", epochs=1))
        assert run_now(row.job).state == "done"
        row.refresh_from_db()
        assert set(row.right) == set(run.predictions["ids"])
        assert len(row.details["losses"]) == 1
        client.force_login(make_member(run.project, Role.RESEARCHER))
        html = client.get(reverse("utd:bias_models", args=["things", run.pk])).content.decode()
        assert "tiny-mae" in html

    def test_an_image_text_model_chooses_among_the_classes_of_the_train_split_too(self, run, monkeypatch):
        """As the cells, the nine models, trained classifiers and chance do."""
        Video.objects.filter(project=run.project, split="train").update(class_label="swims")
        monkeypatch.setattr(sample_predictions, "open_adapter", lambda *_, **__: SeesSwimming())
        row = predict_samples(None, run, PredictionRequest("fake:", zero_shot=True, label="looks"))
        assert run_now(row.job).state == "done"
        row.refresh_from_db()
        assert set(row.right.values()) == {0.0}

    @pytest.mark.full
    @pytest.mark.parametrize("task", TASKS)
    def test_shards_give_the_answers_of_one_process_and_repeat_no_stored_clip(self, run, settings, monkeypatch, task):
        run = run if task == CLASSIFICATION else texts.measured(run.descriptions, task=task)
        whole = predict_samples(None, run, PredictionRequest("fake:", zero_shot=True, label="whole"))
        assert run_now(whole.job).state == "done"
        assert not whole.job.shards.exists()
        settings.SHARD_ITEMS = 4
        monkeypatch.setattr(sample_predictions, "CLIPS_PER_BATCH", 1)
        monkeypatch.setattr(sample_predictions, "CLIPS_PER_WRITE", 1)
        cut = predict_samples(None, run, PredictionRequest("fake:", zero_shot=True, label="cut"))
        execute(str(cut.job_id))
        shard = cut.job.shards.order_by("number").first()
        clips = []
        monkeypatch.setattr(FakeEmbedder, "encode_video", stopping_at(3, FakeEmbedder.encode_video, clips))
        with pytest.raises(Stop):
            execute(str(shard.pk))
        shard.refresh_from_db()
        assert (shard.state, shard.done, len(shard.measured["problems"]["scores"])) == ("waiting", 2, 2)
        execute(str(shard.pk))
        # Of four clips two were stored when it stopped at the third.
        assert len(clips) == 5
        assert run_now(cut.job).state == "done"
        whole.refresh_from_db()
        cut.refresh_from_db()
        assert cut.right == whole.right
        assert set(cut.right) == set(run.predictions["ids"])
        assert cut.details == whole.details
        ended = cut.job.shards.values_list("state", "done", "total", "measured")
        # Six samples.
        assert list(ended.order_by("number")) == [("done", 4, 4, {}), ("done", 2, 2, {})]

    @pytest.mark.full
    def test_a_second_model_ranks_the_first_videos_again(self, run, monkeypatch):
        run = texts.measured(run.descriptions, task="retrieval")

        def right(spec, **given):
            row = predict_samples(None, run, PredictionRequest(spec, zero_shot=True, label="m", **given))
            assert run_now(row.job).state == "done"
            row.refresh_from_db()
            return row

        alone, second = right("fake:").right, right("fake:3").right
        assert alone != second
        both = right("fake:", rerank="fake:3")
        # All videos are among the first 128.
        assert (both.right, both.details["rerank_model"]) == (second, "fake/3@1")
        monkeypatch.setattr(reranking, "TOP", 1)
        assert right("fake:", rerank="fake:3").right == alone
        with pytest.raises(EvaluationError, match="Only text-to-video retrieval"):
            predict_samples(None, run, PredictionRequest("backbone:lab/model", rerank="fake:3"))

    def test_samples_that_changed_between_the_shards_are_refused(self, run, settings):
        settings.SHARD_ITEMS = 4
        row = predict_samples(None, run, PredictionRequest("fake:", zero_shot=True, label="looks"))
        execute(str(row.job_id))
        for shard in row.job.shards.all():
            execute(str(shard.pk))
        Video.objects.filter(project=run.project, split="test").first().delete()
        with pytest.raises(EvaluationError, match="the samples changed while the model was answering; start it again"):
            execute(str(row.job_id))

    @pytest.mark.full
    def test_an_image_text_model_is_compared_with_the_texts(self, client, run):
        row = predict_samples(None, run, PredictionRequest("fake:", zero_shot=True, label="looks"))
        assert run_now(row.job).state == "done"
        client.force_login(make_member(run.project, Role.RESEARCHER))
        html = client.get(reverse("utd:bias_ablation", args=["things"])).content.decode()
        assert "sees the frames, zero-shot" in html
        with pytest.raises(EvaluationError, match="epochs are not allowed"):
            predict_samples(None, run, PredictionRequest("backbone:x", epochs=0))
