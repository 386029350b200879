"""Train LLM-teacher on the demo's clips: the numbers and curves of docs/how-to/teacher.md.

    .venv/bin/python docs/examples/teacher_shapes.py [--seeds 0 1 2] [--steps 400] [--share .1] [--out FOLDER]

Each seed has its own clips and:

- the start: a small temporal dual encoder, trained with the plain loss;
- the teacher: a small sentence encoder, trained to recognise sentences with the same meaning;
- the arms: each continues from the start, with the same clips, batches and learning rate.

A tenth of the training scenes (`--share`) is held out and chooses the step whose model is evaluated. `last step` is the
model of the last step of the same training, for comparison. With `--share 0`, all scenes are learned and nothing is
chosen.

The held-out clips show other scenes. Each caption is ranked among five counterfactuals (RCAD), among the captions of
the other clips (standard retrieval), and among captions whose object is changed instead of the action.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")

import django  # noqa: E402 (the root must be on the path first)

# The charts are those of the pages.
django.setup()

import numpy as np  # noqa: E402
import torch  # noqa: E402
from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast  # noqa: E402
from transformers.utils import logging  # noqa: E402

from foilworks.core.hub.adapters.tiny_video import TinyConfig, TinyVideoText, Words, save_model  # noqa: E402
from foilworks.core.hub.catalogue.registry import ENCODER  # noqa: E402
from foilworks.core.hub.interfaces import VideoMeta  # noqa: E402
from foilworks.core.hub.opening import open_helper  # noqa: E402
from foilworks.core.hub.training.dual_encoders import open_student  # noqa: E402
from foilworks.core.text.tokens import words as words_of  # noqa: E402
from foilworks.site.demo.captions import COLOURS, MOTIONS, SAME_MEANING, SHAPES, Facts, direction_caption  # noqa: E402
from foilworks.site.demo.shape_videos import FRAMES, Scene, draw, evaluation_scenes, training_scenes  # noqa: E402
from foilworks.site.teacher.examples import Examples, examples_of  # noqa: E402
from foilworks.site.teacher.held_out import held_out_sources, set_of  # noqa: E402
from foilworks.site.teacher.measuring import measured, read  # noqa: E402
from foilworks.site.teacher.pages import curves  # noqa: E402
from foilworks.site.teacher.plan import Objective, Plan  # noqa: E402
from foilworks.site.teacher.readings import (  # noqa: E402
    ACTION,
    OBJECT,
    R1,
    STANDARD,
    EvaluationResult,
    HeldOut,
    changes,
    compared,
    summary,
)
from foilworks.site.teacher.selection import Selection  # noqa: E402
from foilworks.site.teacher.sources import TrainingTexts  # noqa: E402
from foilworks.site.teacher.training import StepReport, train  # noqa: E402

KEPT_FRAMES, SIDE = 12, 32
PAD, UNKNOWN = "[PAD]", "[UNK]"
TEMPERATURE = 0.07
RATE = 1e-3
ACTIONS = [Facts("", "", motion, reverse) for motion in MOTIONS for reverse in (False, True)]
ARMS = {
    "contrastive": {"contrastive": 1.0},
    "lbl": {"lbl": 1.0},
    "lgt": {"lgt": 1.0},
    "contrastive + lbl": {"contrastive": 1.0, "lbl": 1.0},
    "contrastive + lgt": {"contrastive": 1.0, "lgt": 1.0},
}
# Number of changed captions per kind (actions, objects), with one objective (Feint6K, Table 2).
SOURCES = {"10 actions": (10, 0), "5 actions": (5, 0), "5 actions + 5 objects": (5, 5)}
SOURCES_ARM = "contrastive + lgt"


@dataclass(frozen=True)
class Sizes:
    clips: int = 420
    pairs: int = 84
    pretraining: int = 500
    steps: int = 400
    batch: int = 24
    teacher_steps: int = 300
    curve_every: int = 40
    share: float = 0.1


def other_actions(facts: Facts, count: int, chance: np.random.Generator) -> list[str]:
    """Return captions of the same object with a different action; the reversal is always among them."""
    others = [replace(facts, motion=each.motion, reverse=each.reverse) for each in ACTIONS]
    own = direction_caption(facts)
    reversal = direction_caption(replace(facts, reverse=not facts.reverse))
    rest = [text for each in others if (text := direction_caption(each)) not in (own, reversal)]
    return [reversal, *(rest[at] for at in chance.permutation(len(rest))[: count - 1])]


def other_things(facts: Facts, count: int, chance: np.random.Generator) -> list[str]:
    """Return captions of the same action with a different shape or colour."""
    rest = [
        direction_caption(replace(facts, shape=shape, colour=colour))
        for shape in SHAPES
        for colour in COLOURS
        if (shape == facts.shape) != (colour == facts.colour)
    ]
    return [rest[at] for at in chance.permutation(len(rest))[:count]]


def frames_of(scenes: Sequence[Scene]) -> np.ndarray:
    places = ((np.arange(KEPT_FRAMES) + 0.5) * FRAMES / KEPT_FRAMES).astype(int)
    return np.stack([draw(scene, SIDE)[places] for scene in scenes])


def held_out(scenes: Sequence[Scene], seed: int) -> HeldOut:
    chance = np.random.default_rng([seed, 1])
    ids, texts, kinds, clips = [], [], [], []
    for at, scene in enumerate(scenes):
        caption = direction_caption(scene.facts)
        for kind, make in ((ACTION, other_actions), (OBJECT, other_things)):
            ids.append(f"{scene.key}/{kind}")
            texts.append((caption, *make(scene.facts, 5, chance)))
            kinds.append((kind,) * 5)
            clips.append(at)
    captions = tuple(direction_caption(scene.facts) for scene in scenes)
    sources = tuple(scene.source for scene in scenes)
    return HeldOut(tuple(ids), tuple(texts), tuple(kinds), tuple(clips), captions, sources)


def every_caption() -> list[str]:
    return [
        direction_caption(replace(each, shape=shape, colour=colour))
        for shape in SHAPES
        for colour in COLOURS
        for each in ACTIONS
    ]


def sentence_teacher(folder: Path, seed: int, steps: int) -> Path:
    """Train a sentence encoder on two wordings of each sentence, and save it as a transformers folder."""
    texts = every_caption()
    known = sorted({word for text in texts for word in words_of(text)} | set(SAME_MEANING.values()) | {"gradually"})
    vocabulary = {word: at for at, word in enumerate([PAD, UNKNOWN, *known, "comes"])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token=PAD, unk_token=UNKNOWN, model_max_length=32)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=32,
    )
    model = BertModel(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    chance = np.random.default_rng(seed)
    model.train()
    for _ in range(steps):
        chosen = [texts[at] for at in chance.choice(len(texts), 64, replace=False)]
        left, right = (_sentences(model, tokenizer, [_reworded(text, chance) for text in chosen]) for _ in range(2))
        loss = F.cross_entropy(left @ right.T / TEMPERATURE, torch.arange(len(chosen)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _reworded(text: str, chance: np.random.Generator) -> str:
    """Replace the words by synonyms, with a probability of one half."""
    if chance.random() < 0.5:
        return text
    return " ".join(SAME_MEANING.get(word, word) for word in text.split())


def _sentences(model: BertModel, tokenizer: Any, texts: list[str]) -> torch.Tensor:
    given = tokenizer(texts, padding=True, return_tensors="pt", return_token_type_ids=False)
    mask = given["attention_mask"].unsqueeze(2)
    hidden = model(**given).last_hidden_state
    return F.normalize((hidden * mask).sum(1) / mask.sum(1), dim=1)


def collected(scenes: Sequence[Scene], seed: int, actions: int, objects: int) -> TrainingTexts:
    """Return the captions of the scenes with their changed captions."""
    chance = np.random.default_rng([seed, 2])
    captions = [direction_caption(scene.facts) for scene in scenes]
    negatives = [
        [*other_actions(scene.facts, actions, chance), *(other_things(scene.facts, objects, chance) if objects else [])]
        for scene in scenes
    ]
    return TrainingTexts(captions, list(range(len(scenes))), negatives, {})


def examples(found: TrainingTexts, rows: Sequence[int], encoder: Any) -> Examples:
    captions, negatives = [found.captions[row] for row in rows], [found.negatives[row] for row in rows]
    places = {text: at for at, text in enumerate(sorted({*captions, *(text for each in negatives for text in each)}))}
    vectors = encoder.encode_text(list(places))
    cosines = [
        [float(vectors[places[caption]] @ vectors[places[text]]) for text in made]
        for caption, made in zip(captions, negatives, strict=True)
    ]
    return examples_of(captions, negatives, cosines)


@dataclass(frozen=True)
class World:
    """Data and models that all arms of a seed share."""

    seed: int
    scenes: Sequence[Scene]
    clips: np.ndarray
    held: HeldOut
    shown: np.ndarray
    start: str
    encoder: Any


def world_of(folder: Path, seed: int, sizes: Sizes) -> World:
    """Make the clips, the teacher and the start of a seed."""
    encoder = open_helper(str(sentence_teacher(folder / "teacher", seed, sizes.teacher_steps)), ENCODER, device="cpu")
    vocabulary = Words.of(every_caption())
    torch.manual_seed(seed)
    model = TinyVideoText(TinyConfig("temporal", "tiny/shapes", frames=KEPT_FRAMES, size=SIDE), len(vocabulary.entries))
    drawn = f"tiny:{save_model(folder / 'drawn', model, vocabulary, {'category': 'video'})}"
    # Pretraining uses different clips from those of the arms.
    earlier = training_scenes(sizes.clips, seed + 1000)
    student = open_student(drawn, reader(frames_of(earlier)), device="cpu")
    learnt = examples_of([direction_caption(scene.facts) for scene in earlier], [[] for _ in earlier])
    plan = Plan(
        Objective(TEMPERATURE, contrastive=1.0),
        sizes.pretraining,
        sizes.batch,
        learning_rate=2 * RATE,
        seed=seed,
        save_every=10**6,
    )
    train(student, learnt, plan, folder=folder / "pretraining")
    start = student.save(folder / "start", {})
    scenes, test = training_scenes(sizes.clips, seed), evaluation_scenes(sizes.pairs, seed)
    return World(seed, scenes, frames_of(scenes), held_out(test, seed), frames_of(test), start, encoder)


def reader(frames: np.ndarray) -> Any:
    return lambda place: (frames[place], VideoMeta(key=str(place)))


@dataclass(frozen=True)
class Arm:
    """A trained arm: evaluations of the chosen model and of the last step's, the chosen step, and the curve as points
    (step, loss, RCAD R@1, standard R@1, held-out R@1).
    """

    chosen: EvaluationResult
    last: EvaluationResult
    step: int
    points: list[tuple[int, float, float, float, float | None]]


def arm(world: World, folder: Path, shares: dict[str, float], source: tuple[int, int], sizes: Sizes) -> Arm:
    """Train one arm."""
    found, sources = collected(world.scenes, world.seed, *source), [scene.source for scene in world.scenes]
    out = held_out_sources(sources, sizes.share) if sizes.share else set()
    learned = [row for row, name in enumerate(sources) if name not in out]
    student = open_student(world.start, reader(world.clips[learned]), device="cpu")
    plan = Plan(
        Objective(TEMPERATURE, **shares),
        sizes.steps,
        sizes.batch,
        learning_rate=RATE,
        seed=world.seed,
        save_every=10**6,
    )
    chosen_by = [row for row, name in enumerate(sources) if name in out]
    selection = _selection(world, student, found, chosen_by, folder, plan, sizes) if out else None
    shown, points = reader(world.shown), []
    part, places = world.held.spread_sample(120)
    last: list[EvaluationResult] = []

    def heard(said: StepReport) -> None:
        student.module.eval()
        if said.step % sizes.curve_every == 0 or said.step == 1:
            on_part = measured(student.adapter, part, reader(world.shown[places]))
            held = next(iter(said.held_out.values()), None)
            points.append((said.step, said.loss, on_part[R1], on_part[STANDARD], held))
        if said.step == sizes.steps:
            last.append(read(student.adapter, world.held, shown))

    train(student, examples(found, learned, world.encoder), plan, folder=folder, on_step=heard, selection=selection)
    step = selection.best if selection and selection.best else sizes.steps
    return Arm(read(student.adapter, world.held, shown), last[0], step, points)


def _selection(
    world: World, student: Any, found: TrainingTexts, rows: list[int], folder: Path, plan: Plan, sizes: Sizes
) -> Selection:
    """Choose as a training does: by RCAD R@1 among the changed captions, or by standard R@1 for the plain loss."""
    sources = [scene.source for scene in world.scenes]
    held, first = set_of(found, sources, rows)
    names = (R1, STANDARD) if plan.objective.needs_negatives else (STANDARD, R1)

    def measure() -> dict[str, float]:
        values = measured(student.adapter, held, reader(world.clips[first]))
        return {name: values[name] for name in names}

    return Selection(folder, measure, every=sizes.curve_every, n=len(set(held.sources)))


@dataclass
class Found:
    """Evaluations per arm, one per seed, of the chosen model and of the last step's; the chosen steps; the curves of
    the first seed per arm.
    """

    start: list[EvaluationResult]
    arms: dict[str, list[EvaluationResult]]
    last: dict[str, list[EvaluationResult]]
    steps: dict[str, list[int]]
    sources: dict[str, list[EvaluationResult]]
    points: dict[str, list[tuple[int, float, float, float, float | None]]]


def experiment(
    seeds: Sequence[int],
    sizes: Sizes,
    arms: dict[str, dict[str, float]] = ARMS,
    sources: dict[str, tuple[int, int]] = SOURCES,
) -> Found:
    found = Found([], *({name: [] for name in arms} for _ in range(3)), {name: [] for name in sources}, {})
    for seed in seeds:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            world = world_of(folder, seed, sizes)
            begun = open_student(world.start, reader(world.clips), device="cpu")
            found.start.append(read(begun.adapter, world.held, reader(world.shown)))
            for name, shares in arms.items():
                trained = arm(world, folder / name, shares, SOURCES["10 actions"], sizes)
                found.arms[name].append(trained.chosen)
                found.last[name].append(trained.last)
                found.steps[name].append(trained.step)
                found.points.setdefault(name, trained.points)
            for name, source in sources.items():
                same = SOURCES_ARM in arms and source == SOURCES["10 actions"]
                reading = (
                    found.arms[SOURCES_ARM][-1]
                    if same
                    else arm(world, folder / name, ARMS[SOURCES_ARM], source, sizes).chosen
                )
                found.sources[name].append(reading)
    return found


def report(found: Found) -> dict[str, Any]:
    """Return all results for JSON: each arm, and its difference from the plain loss, over all seeds and per seed."""
    plain = found.arms["contrastive"]
    return {
        "start": summary(_merged(found.start)),
        "arms": {name: summary(_merged(readings)) for name, readings in found.arms.items()},
        "last step": {name: summary(_merged(readings)) for name, readings in found.last.items()},
        "chosen steps, by seed": found.steps,
        "against last step": {
            name: compared(_merged(found.last[name]), _merged(readings)) for name, readings in found.arms.items()
        },
        "against contrastive": {
            name: compared(_merged(plain), _merged(readings))
            for name, readings in found.arms.items()
            if name != "contrastive"
        },
        "against contrastive, by seed": {
            name: [compared([old], [new])[R1] for old, new in zip(plain, readings, strict=True)]
            for name, readings in found.arms.items()
            if name != "contrastive"
        },
        "sources": {name: summary(_merged(readings)) for name, readings in found.sources.items()},
        "curves": found.points,
    }


def _merged(readings: list[EvaluationResult]) -> list[EvaluationResult]:
    """Merge the seeds into one set of items. Each seed has its own clips, so clusters never span seeds."""

    def named(field: str) -> tuple[str, ...]:
        return tuple(f"{seed}/{name}" for seed, each in enumerate(readings) for name in getattr(each, field))

    return [
        EvaluationResult(
            named("ids"),
            named("clusters"),
            tuple(row for each in readings for row in each.kinds),
            tuple(row for each in readings for row in each.scores),
            named("sources"),
            tuple(value for each in readings for value in each.above),
            tuple(value for each in readings for value in each.tied),
            readings[0].choices,
        )
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=Sizes.steps)
    parser.add_argument(
        "--share", type=float, default=Sizes.share, help="share of the scenes that choose the model; 0: the last step"
    )
    parser.add_argument("--out", type=Path, help="write result.json, curves.svg and changes.svg there")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    measured = experiment(arguments.seeds, Sizes(steps=arguments.steps, share=arguments.share))
    result = report(measured)
    print(json.dumps({name: rows for name, rows in result.items() if name != "curves"}, indent=2))
    if arguments.out:
        from evaluation.charts.of_models import distributions

        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "result.json").write_text(json.dumps(result) + "\n")
        (arguments.out / "curves.svg").write_bytes(curves(measured.points))
        models = {"start": _merged(measured.start)[0], **{name: _merged(measured.arms[name])[0] for name in ARMS}}
        rows = [row for row in changes(models)["rows"] if row["group"] in (ACTION, OBJECT)]
        panels = [
            (name, [(row["group"], row["edges"], row["shares"]) for row in rows if row["model"] == name])
            for name in models
        ]
        (arguments.out / "changes.svg").write_bytes(
            distributions(panels, label="cosine of the foil minus the caption's")
        )


if __name__ == "__main__":
    main()
