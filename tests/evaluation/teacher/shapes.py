"""A small project of coloured shapes for trainings: train clips with runs over them, a release of other clips."""

from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.models import Subtest
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.hub.adapters.tiny_video import TinyConfig, TinyVideoText, Words, save_model
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import Role
from foilworks.site.demo.captions import MOTIONS, Facts, direction_caption
from foilworks.site.demo.shape_videos import evaluation_scenes, training_scenes
from tests.factories import (
    make_candidate,
    make_caption,
    make_group,
    make_item,
    make_member,
    make_project,
    make_run,
    make_subtest,
    make_video,
)

FRAMES, SIDE = 2, 16
PAD, UNKNOWN = "[PAD]", "[UNK]"


def actions_of(facts: Facts) -> list[str]:
    others = [
        direction_caption(Facts(facts.shape, facts.colour, motion, back))
        for motion in MOTIONS
        for back in (False, True)
    ]
    return [text for text in others if text != direction_caption(facts)]


def things_of(facts: Facts) -> list[str]:
    others = ("cross", "ring", "star", "square")
    return [
        direction_caption(Facts(shape, facts.colour, facts.motion, facts.reverse))
        for shape in others
        if shape != facts.shape
    ]


def every_word() -> list[str]:
    return [text for scene in training_scenes(40, 0) for text in (*actions_of(scene.facts), *things_of(scene.facts))]


def student(folder: Path) -> Path:
    torch.manual_seed(0)
    words = Words.of(every_word())
    config = TinyConfig("average", "tiny/start", frames=FRAMES, size=SIDE, width=16, dimensions=16, text_width=16)
    return save_model(folder, TinyVideoText(config, len(words.entries)), words, {"category": "video"})


def teacher(folder: Path) -> Path:
    torch.manual_seed(1)
    known = {word: at for at, word in enumerate([PAD, UNKNOWN, *sorted({w for t in every_word() for w in t.split()})])}
    raw = Tokenizer(models.WordLevel(known, unk_token=UNKNOWN))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token=PAD, unk_token=UNKNOWN, model_max_length=32)
    config = BertConfig(
        vocab_size=len(known),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
    )
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


class Shapes:
    """A project with `clips` train clips, a run that changes actions, one that changes things, and a release."""

    def __init__(self, media: Path, models: Path, clips: int = 8, held: int = 4) -> None:
        self.project = make_project()
        self.owner = make_member(self.project, Role.RESEARCHER)
        self.student, self.teacher = student(models / "start"), teacher(models / "teacher")
        self.actions = make_subtest(self.project, foils_per_item=5, changes=Subtest.Changes.ACTION)
        self.objects = make_subtest(self.project, foils_per_item=2)
        self.action_run, self.object_run = make_run(self.actions, method="mask"), make_run(self.objects)
        self.captions = [self._train_clip(media, scene) for scene in training_scenes(clips, 0)]
        for scene in evaluation_scenes(held // 2, 0):
            self._held_clip(media, scene)
        self.release = freeze_release(self.owner, self.project, name="held out")

    def _train_clip(self, media, scene):
        caption = make_caption(self._video(media, scene, "train"), direction_caption(scene.facts))
        for run, texts in ((self.action_run, actions_of(scene.facts)), (self.object_run, things_of(scene.facts))):
            group = make_group(run, caption)
            for rank, text in enumerate(texts):
                make_candidate(group, text, rank=rank, model_id="a/filler")
        return caption

    def _held_clip(self, media, scene):
        caption = make_caption(self._video(media, scene, "test"), direction_caption(scene.facts))
        common = {"state": ItemState.VALID, "unanimous": True}
        make_item(self.actions, caption, tuple(actions_of(scene.facts)[:5]), key=scene.key, **common)
        make_item(
            self.objects,
            caption,
            tuple(things_of(scene.facts)[:2]),
            key=f"{scene.key}-thing",
            extra={"edited": "object"},
            **common,
        )

    def _video(self, media, scene, split):
        path = media / f"{scene.key}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        flat = np.full((4, 32, 32, 3), scene.ground, np.uint8)
        write_mp4(path, flat, 12)
        return make_video(
            self.project, key=scene.key, split=split, file=path.name, source_id=scene.source, sha256=f"{scene.key:x<64}"
        )

    def settings(self, **fields):
        values = {
            "student": f"tiny:{self.student}",
            "teacher": str(self.teacher),
            "device": "cpu",
            "steps": 8,
            "batch": 4,
            "learning_rate": 0.01,
            "save_every": 3,
            "curve_every": 1,
            "actions": 5,
            "objects": 0,
        }
        return {**values, **fields}
