"""Models on Feint6K: those with weights, and students of LLM-teacher (Feint6K, Secs. 4.2, 5.1 and 5.3).

Without weights, a small dual encoder is drawn for each student of the paper and trained here. Its numbers say "tiny
model".
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from evaluation.scoring.queries import run_results
from foilworks.core.corpus.actions.create_subtest import create_subtest
from foilworks.core.corpus.models import Caption, Release
from foilworks.core.hub.adapters.tiny_video import TinyConfig, TinyVideoText, Words, save_model
from foilworks.core.projects.models import Project
from foilworks.site.reproduction.shared_steps import done
from foilworks.site.reproduction.shared_steps import score as scored_run
from foilworks.site.teacher.actions.trainings import start_teacher
from foilworks.site.teacher.models import StudentEvaluation, TeacherTraining
from foilworks.site.teacher.pages import changes_chart
from foilworks.site.teacher.paper_rows import TABLE_1
from foilworks.site.teacher.readings import EvaluationResult, changes
from foilworks.site.teacher.training_request import TrainingRequest
from generation.actions.runs import start_run as start_generation
from generation.models import GenerationRun
from generation.recipes import find_recipe
from generation.run_request import FoilRequest

STUDENTS = {"SimVTP": "average", "InternVideo": "temporal"}
MAIN = "InternVideo"
# Names of --weights for what is not a row of the paper.
FILLER, SENTENCES, CHATBOT = "XLM-RoBERTa", "Sentence-BERT", "chatbot"
TINY_FILLER, TINY_SENTENCES = "fake-mask:", "fake-words:"
ACTIONS, OBJECTS, CHAT = "feint6k-teacher", "feint6k-teacher-objects", "feint6k-teacher-chat"
MODEL_ROWS = tuple(dict.fromkeys(row.name for row in TABLE_1 if row.section and not row.base))
TINY_STEPS = {"steps": 24, "batch": 8, "learning_rate": 1e-3, "save_every": 1000, "curve_every": 12}
CONTROL = 6
FIGURE = "figure-5b"


@dataclass
class Scored:
    """Models of one release. `names`: {row of the paper: name here}; `tiny`: rows whose student was drawn here."""

    names: dict[str, str] = field(default_factory=dict)
    tiny: set[str] = field(default_factory=set)
    controls: dict[str, float] = field(default_factory=dict)


def score(project: Project, release: Release, weights: Mapping[str, str], work: Path, seed: int) -> Scored:
    """Score the rows that have weights; train and evaluate the students if the project has train clips with files."""
    scored = Scored()
    for row in MODEL_ROWS:
        if row in weights and row not in STUDENTS:
            _run(scored, release, weights[row], row)
            scored.names[row] = row
    if project.videos.filter(split="train", media_state="ready").exists():
        runs = _negatives(project, weights, seed)
        for row, architecture in STUDENTS.items():
            if row not in weights:
                scored.tiny.add(row)
            spec = weights.get(row) or _draw_student(project, row, architecture, work, seed)
            trained = list(_trainings(project, release, spec, weights, runs, row, row not in weights, seed))
            scored.names[row] = trained[0].student_name
            if row == MAIN:
                _draw_changes(trained[0], trained[2], release, work / "figures")
                _run(scored, release, trained[0].model_spec, f"{row}, finetuned")
    return scored


def _draw_changes(plain: TeacherTraining, taught: TeacherTraining, release: Release, folder: Path) -> None:
    """Write the change of the cosine by an edit of the action as a chart and as numbers (Feint6K, Fig. 5b)."""
    rows = [StudentEvaluation.objects.get(training=training, release=release) for training in (plain, taught)]
    evaluations = {"IntVid-pt": rows[0].before, "IntVid-ft": rows[0].after, "LLM-teacher": rows[1].after}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{FIGURE}.svg").write_bytes(changes_chart(rows[1]))
    numbers = changes({name: EvaluationResult.of(evaluation) for name, evaluation in evaluations.items()})
    (folder / f"{FIGURE}.json").write_text(json.dumps(numbers, indent=2) + "\n", encoding="utf-8")


def _run(scored: Scored, release: Release, spec: str, label: str) -> None:
    """Score the release with retrieval among six captions and among all, and with less and less of each clip."""
    control = len(set(release.members.values_list("video", flat=True))) >= CONTROL
    run = scored_run(release, spec, label, standard=True, control=control, controls=True)
    result = run_results(run)
    if result.get("control"):
        scored.controls[label] = 100 * result["control"]["R@1"]


def _negatives(project: Project, weights: Mapping[str, str], seed: int) -> dict[str, GenerationRun]:
    """Make the changed captions of the train split by the paper's recipes; the chatbot only if it has a model."""
    makers = {ACTIONS: (FILLER, TINY_FILLER, "action"), OBJECTS: (FILLER, TINY_FILLER, "")}
    if CHATBOT in weights:
        makers[CHAT] = (CHATBOT, "", "action")
    runs = {}
    for slug, (name, tiny, edited) in makers.items():
        recipe = find_recipe(slug)
        subtest = create_subtest(None, project, name=slug, changes=edited, foils_per_item=recipe.params["foils"])
        run = start_generation(
            None,
            project,
            FoilRequest(
                subtest=subtest,
                method=recipe.method,
                recipe=f"{slug}@{recipe.version}",
                params={**recipe.params, "model": weights.get(name, tiny)},
                filters=recipe.filters_in("corrected"),
                selection={"split": "train"},
                seed=seed,
            ),
        )
        done(run.job)
        runs[slug] = run
    return runs


def _draw_student(project: Project, row: str, architecture: str, work: Path, seed: int) -> str:
    """Return a small student with the words of the project's captions, drawn by the seed."""
    texts = Caption.objects.filter(video__project=project).order_by("pk").values_list("text", flat=True)
    words = Words.of(list(texts))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config = TinyConfig(architecture, f"tiny/{row}", frames=8, size=32, width=32, dimensions=32, text_width=32)
        model = TinyVideoText(config, len(words.entries))
    return f"tiny:{save_model(work / 'students' / f'{project.slug}-{row}', model, words, {'category': 'video'})}"


def _trainings(
    project: Project,
    release: Release,
    spec: str,
    weights: Mapping[str, str],
    runs: Mapping[str, GenerationRun],
    row: str,
    tiny: bool,
    seed: int,
) -> Iterator[TeacherTraining]:
    """Yield plain fine-tuning, both objectives, and for the main student the captions of (Feint6K, Table 2)."""
    plain = {"contrastive": 1.0, "lbl": 0.0, "lgt": 0.0}
    lgt = {**plain, "lgt": 1.0}
    arms: list[tuple[dict[str, Any], str]] = [(plain, ""), ({**plain, "lbl": 1.0}, ACTIONS), (lgt, ACTIONS)]
    if row == MAIN:
        arms += [({**lgt, "actions": 5}, ACTIONS), ({**lgt, "actions": 5, "objects": 5}, ACTIONS)]
        arms += [(lgt, CHAT)] if CHAT in runs else []
    common = {
        "student": spec,
        "teacher": weights.get(SENTENCES, TINY_SENTENCES),
        "without_negatives": "leave_out",
        "select_on": "last_step",
        **(TINY_STEPS if tiny else {}),
    }
    for params, slug in arms:
        objects = (runs[OBJECTS].pk,) if params.get("objects") else ()
        training = start_teacher(
            None,
            project,
            TrainingRequest(
                params=common | {name: str(value) for name, value in params.items()},
                action_runs=(runs[slug].pk,) if slug else (),
                object_runs=objects,
                release=release,
                seed=seed,
            ),
        )
        done(training.job)
        training.refresh_from_db()
        yield training
