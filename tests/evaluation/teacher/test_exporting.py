"""What `foilworks teacher export` writes trains another program's model to the curve of the built-in student."""

import ast
import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
import torch
from django.core.management import call_command

from evaluation.scoring.actions.models import trust_model
from foilworks.core.corpus.models import Video
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.opening import open_adapter, open_helper
from foilworks.core.hub.training import llm_teacher
from foilworks.core.hub.training.llm_teacher import TeacherSet
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.site.teacher.actions.trainings import start_teacher
from foilworks.site.teacher.footage import Footage, clip_of
from foilworks.site.teacher.training_request import TrainingRequest
from tests.hub.clip_files import OwnClip, QuickGelu, byte_pairs

pytestmark = pytest.mark.django_db
SCRIPT = Path(__file__).resolve().parents[3] / "docs/examples/teacher_elsewhere.py"


@pytest.fixture
def example():
    spec = spec_from_file_location("teacher_elsewhere", SCRIPT)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def export(shapes, out, *more):
    given = ("--project", shapes.project.slug, "--action-run", str(shapes.action_run.pk), "--out", str(out))
    options = ("--set", f"teacher={shapes.teacher}", "--set", "device=cpu", "--set", "actions=5", *more)
    call_command("teacher", "export", *given, *options)
    return [json.loads(line) for line in out.read_text().splitlines()]


class Foreign:
    """The student's own network without its adapter, as another program would hold it."""

    def __init__(self, adapter):
        self._network, self._words = adapter.model, adapter.vocabulary

    def parameters(self):
        return self._network.parameters()

    def encode_video(self, clips):
        return self._network.encode_video(clips)

    def encode_text(self, texts):
        return self._network.encode_text(self._words.encode(texts))


def test_the_documented_lines_have_the_curve_of_the_built_in_student(shapes, example, tmp_path):
    """With two captions of a video, which are do not count as negatives, here as there."""
    Video.objects.filter(pk=shapes.captions[1].video_id).update(sha256=shapes.captions[0].video.sha256)
    shapes.captions[1].video = shapes.captions[0].video
    shapes.captions[1].save(update_fields=["video"])
    params = shapes.settings(steps=8, batch=6, contrastive=1.0, lgt=1.0, weight_decay=0.05, select_on="last_step")
    training = start_teacher(
        shapes.owner, shapes.project, TrainingRequest(params=params, action_runs=(shapes.action_run.pk,), seed=3)
    )
    assert run_now(training.job).state == JobState.DONE
    built_in = list(training.points.order_by("step").values_list("loss", flat=True))

    export(shapes, tmp_path / "set.jsonl")
    adapter = open_adapter(f"tiny:{shapes.student}", device="cpu")
    footage = {video.key: Footage([clip_of(video)]) for video in Video.objects.filter(split="train")}
    for each in footage.values():
        each.show_to(adapter.info)
    adapter.model.train()

    def read(row):
        return torch.from_numpy(footage[row["clip"]](0)[0])

    curve = example.train(Foreign(adapter), read, str(tmp_path / "set.jsonl"), steps=8, batch=6, rate=0.01, seed=3)
    assert len(built_in) == 8
    np.testing.assert_allclose(curve, built_in, atol=1e-5)
    assert curve[-1] < curve[0]


def test_a_set_has_clips_negatives_cosines_and_splits(shapes, tmp_path, capsys):
    Video.objects.filter(pk__in=[caption.video_id for caption in shapes.captions[:3]]).update(split="val")
    rows = export(shapes, tmp_path / "set.jsonl", "--split", "train,val", "--json")
    said = json.loads(capsys.readouterr().out)
    assert said["rows"] == {"train": 5, "val": 3}
    assert [row["split"] for row in rows] == ["train"] * 5 + ["val"] * 3
    row = rows[0]
    assert set(row) == {"clip", "file", "start", "end", "sha256", "source", "split", "caption", "negatives", "teacher"}
    assert Path(row["file"]).is_file()
    texts = [row["caption"], *row["negatives"]]
    vectors = open_helper(str(shapes.teacher), "sentence", device="cpu").encode_text(texts)
    np.testing.assert_allclose(row["teacher"], vectors[1:] @ vectors[0], atol=1e-6)
    assert len(row["negatives"]) == 5
    sources = json.loads((tmp_path / "set.jsonl.sources.json").read_text())
    assert sources["sources"]["train"]["runs"][0]["run"] == shapes.action_run.pk
    data = TeacherSet(tmp_path / "set.jsonl", "val")
    batch = data.collate([data[0], data[1]])
    assert batch.true.sum(dim=1).tolist() == [1, 1]
    assert batch.negatives.shape == (2, 5)


def test_preferences_are_pairs_of_caption_and_foil(shapes, tmp_path):
    rows = export(shapes, tmp_path / "pairs.jsonl", "--preference", "--set", "actions=2")
    assert len(rows) == 16
    assert (rows[0]["chosen"], rows[0]["prompt"]) == (shapes.captions[0].text, "Describe what happens in the video.")
    assert len({row["rejected"] for row in rows[:2]}) == 2
    assert all(row["rejected"] != row["chosen"] for row in rows)


def test_an_export_that_cannot_be_made_is_refused(shapes, tmp_path, capsys):
    out = tmp_path / "set.jsonl"
    out.write_text("mine\n")
    for more, problem in (
        ((), "set.jsonl: exists already; name another file, or remove it"),
        (("--out", str(tmp_path / "new.jsonl"), "--split", "val"), "no caption of the val split has a video"),
        (("--out", str(tmp_path / "new.jsonl"), "--split", "other"), "'other' is not a split"),
    ):
        with pytest.raises(SystemExit):
            export(shapes, out, *more)
        assert problem in capsys.readouterr().err
    assert out.read_text() == "mine\n"
    assert not (tmp_path / "new.jsonl").exists()


def test_a_file_without_rows_of_a_set_is_refused(tmp_path):
    path = tmp_path / "set.jsonl"
    path.write_text('{"clip": "a", "caption": "b", "negatives": [], "teacher": null, "split": "train"}\n{"clip": 1}\n')
    with pytest.raises(ValueError, match="line 2: has no caption; export the set again"):
        TeacherSet(path)
    path.write_text('{"clip": "a", "caption": "b", "negatives": [], "teacher": null, "split": "train"}\n')
    with pytest.raises(ValueError, match="has no row of the split 'val'"):
        TeacherSet(path, "val")
    path.write_text("[]\nno JSON\n")
    with pytest.raises(ValueError, match="line 1: has no clip"):
        TeacherSet(path)


def test_the_data_set_and_the_losses_import_nothing_but_torch_and_numpy():
    tree = ast.parse(Path(llm_teacher.__file__).read_text(encoding="utf-8"))
    named = [each.module or "" for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)]
    named += [alias.name for each in ast.walk(tree) if isinstance(each, ast.Import) for alias in each.names]
    assert {name.partition(".")[0] for name in named} - sys.stdlib_module_names == {"torch", "numpy"}


def test_the_example_reads_the_frames_of_a_clip_itself(shapes, example, tmp_path):
    export(shapes, tmp_path / "set.jsonl")
    torch.manual_seed(0)
    curve = example.train(example.Small(), example.frames, str(tmp_path / "set.jsonl"), steps=12, batch=8, rate=0.01)
    assert np.mean(curve[-3:]) < np.mean(curve[:3])


def test_a_file_of_weights_trains_once_its_owner_permits_it(shapes, tmp_path, settings):
    """The trained model is a folder of safetensors, which needs neither the permission nor the options of the file."""
    folder = Path(settings.MODEL_ROOT) / "clip4clip"
    made = OwnClip(len(byte_pairs(folder)), QuickGelu())
    torch.save({f"clip.{name}": value for name, value in made.state_dict().items()}, folder / "pytorch_model.bin.4")
    spec = f"clip:{folder / 'pytorch_model.bin.4'}?frames=2&tokenizer={folder}"
    params = {**shapes.settings(steps=2, contrastive=1.0, lgt=0.0, lbl=1.0, temperatures="separate"), "student": spec}
    training = start_teacher(
        shapes.owner, shapes.project, TrainingRequest(params=params, action_runs=(shapes.action_run.pk,))
    )
    with pytest.raises(HubError, match="foilworks trust"):
        run_now(training.job)
    trust_model(shapes.owner, shapes.project, spec, other_weights=True)
    training = start_teacher(
        shapes.owner, shapes.project, TrainingRequest(params=params, action_runs=(shapes.action_run.pk,))
    )
    assert run_now(training.job).state == JobState.DONE
    training.refresh_from_db()
    assert training.model_spec.endswith("?frames=2")
    assert open_adapter(training.model_spec, device="cpu").info.frames == 2
