"""Create the sample project and score its models, step by step; finished steps are not repeated.

Draws the world into video files, writes the file that the project is imported from, and lets its people work.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from annotation.actions.settings.work_settings import publish_guideline
from annotation.models import Stage
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.reports.reports import project_report
from evaluation.scoring.actions.start_run import start_run as start_scoring
from evaluation.scoring.models import Run
from evaluation.scoring.queries import run_results
from evaluation.scoring.run_request import RunRequest
from evaluation.utd.actions.biases import measure_bias
from evaluation.utd.actions.descriptions import describe_videos
from evaluation.utd.recipes import DEMO
from evaluation.utd.requests import BiasRequest, DescriptionRequest
from foilworks.core.corpus.actions.create_subtest import create_subtest
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.models import Release, Subtest
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.queue import cancel, enqueue, wait
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.actions.creation import create_project_by_operator
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.registry import load
from foilworks.site.demo import cast, guidelines, plan, simulated_people
from foilworks.site.demo.captions import counting_caption, direction_caption, object_caption
from foilworks.site.demo.plan import Sizes
from foilworks.site.demo.shape_videos import (
    FPS,
    SIDE,
    TRAINED_SIDE,
    Scene,
    counting_scenes,
    draw,
    evaluation_scenes,
    training_scenes,
)
from foilworks.site.exports.collect import collect_release
from foilworks.site.imports.store import import_records
from foilworks.site.supervisor.services import services
from generation.actions.runs import start_run as start_generation
from generation.default_filters import DEFAULT_FILTERS
from generation.models import GenerationRun
from generation.run_request import FoilRequest

DATASET = "shapes"
RECORDS = "captions.jsonl"
THREADS = 2
Progress = Callable[[Iterable[Any], int, str], Iterator[Any]]
RunJob = Callable[[Job, float], None]
# Runs may wait behind the trainings.
GENERATION_SECONDS = TRAINING_SECONDS = 900.0
# Shares of the counting captions that are edited, reviewed, and judged by two of three validators; the rest is left to
# visitors.
LEFT_AFTER = (2 / 3, 1 / 2, 1 / 4)
WORKERS = 2
SCORES = ("T", "P", "P+T", "n")


def film(folder: Path, sizes: Sizes, seed: int, progress: Progress) -> Path:
    """Write the videos of the world into `folder`, with the records to import; return the path of the records."""
    train = training_scenes(sizes.training, seed)
    test = evaluation_scenes(sizes.pairs, seed)
    blinking = counting_scenes(sizes.counting, seed)
    scenes = [*train, *test, *blinking]
    sides = [*repeat(TRAINED_SIDE, len(train)), *repeat(SIDE, len(test) + len(blinking))]
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in progress(pool.map(partial(_write_clip, folder), scenes, sides), len(scenes), "filming"):
            pass
    records = [record for scene in train for record in _records(scene, "train")]
    records += [record for scene in test for record in _records(scene, "test")]
    records += [_record(scene, "test", plan.COUNTING, counting_caption(scene.facts)) for scene in blinking]
    path = folder / RECORDS
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def _write_clip(folder: Path, scene: Scene, side: int) -> None:
    write_mp4(folder / f"{scene.key}.mp4", draw(scene, side), FPS)


def _records(scene: Scene, split: str) -> Sequence[dict[str, Any]]:
    return (
        _record(scene, split, plan.DIRECTION, direction_caption(scene.facts)),
        _record(scene, split, plan.OBJECT, object_caption(scene.facts)),
    )


def _record(scene: Scene, split: str, id_prefix: str, caption: str) -> dict[str, Any]:
    facts: dict[str, Any] = {"shape": scene.facts.shape, "colour": scene.facts.colour, "motion": scene.facts.motion}
    if scene.facts.times:
        facts["count"] = scene.facts.times
    return {
        "id": f"{id_prefix}{scene.key}",
        "video": f"{scene.key}.mp4",
        "video_key": scene.key,
        "source_dataset": DATASET,
        # A clip and its reversal have one source: statistics treat them as one draw.
        "source_id": scene.source,
        "split": split,
        "class_label": scene.facts.motion,
        "caption": caption,
        "facts": facts,
    }


@dataclass
class Build:
    """One sample project while it is created."""

    project: Project
    crew: simulated_people.Crew
    sizes: Sizes
    progress: Progress
    run_job: RunJob

    @property
    def owner(self) -> User:
        return self.crew.people[cast.OWNER]

    def jobs(self, jobs: list[Job], timeout_s: float, label: str) -> None:
        """Run the queued jobs."""
        for job in self.progress(jobs, len(jobs), label):
            self.run_job(job, timeout_s)

    def acts(self, acts: Iterator[None], expected: int, label: str) -> None:
        for _ in self.progress(acts, expected, label):
            pass


def wait_for(job: Job, timeout_s: float) -> None:
    """Let a worker run the job. Raises JobError if it fails or takes too long."""
    wait([job], timeout_s=timeout_s)


def build(
    seed: int, sizes: Sizes, progress: Progress, run_job: RunJob = wait_for
) -> tuple[Project, Release, list[Run]]:
    """Create the project up to a scored release. `run_job(job, seconds)` runs a queued job."""
    build = _create_project(seed, sizes, progress, run_job)
    _import(build, seed)
    subtests = _subtests(build)
    _generate(build, subtests, seed)
    training = _train(build)
    _work(build, subtests)
    _leave_work(build, subtests, seed)
    build.jobs(training, TRAINING_SECONDS, "waiting for the two models")
    release = freeze_release(build.owner, build.project, name="shapes 1")
    runs = _score(build, release)
    _measure_bias(build)
    return build.project, release, runs


@transaction.atomic
def _create_project(seed: int, sizes: Sizes, progress: Progress, run_job: RunJob) -> Build:
    project = create_project_by_operator(plan.SLUG, plan.NAME)
    project.description, project.is_simulated = plan.DESCRIPTION, True
    project.save(update_fields=["description", "is_simulated"])
    audit.record(audit.event(project, None, "foilworks.demo.begin", project, seed=seed))
    scenes = sorted({scene.source for scene in evaluation_scenes(sizes.pairs, seed)})
    return Build(project, simulated_people.Crew(project, cast.enrol(project), scenes, seed), sizes, progress, run_job)


def _import(build: Build, seed: int) -> None:
    cache = Path(settings.CACHE_ROOT)
    cache.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="demo-", dir=cache))
    try:
        records = film(folder, build.sizes, seed, build.progress)
        import_records(
            build.project, build.owner, "jsonl", records, media_dir=folder, strict=True, progress=build.progress
        )
    finally:
        shutil.rmtree(folder)


def _subtests(build: Build) -> dict[str, Subtest]:
    owner, project = build.owner, build.project
    subtests = {
        plan.OBJECT_SUBTEST: create_subtest(
            owner,
            project,
            name=plan.OBJECT_SUBTEST,
            test="direction",
            kind="proficiency",
            votes_wanted=1,
            votes_needed=1,
        )
    }
    subtests[plan.DIRECTION_SUBTEST] = create_subtest(
        owner, project, name=plan.DIRECTION_SUBTEST, test="direction", proficiency_subtest=subtests[plan.OBJECT_SUBTEST]
    )
    subtests[plan.COUNTING_SUBTEST] = create_subtest(owner, project, name=plan.COUNTING_SUBTEST, test="counting")
    subtests[plan.FREE_SUBTEST] = create_subtest(
        owner, project, name=plan.FREE_SUBTEST, test="actions", foils_per_item=2
    )
    for stage, text in guidelines.GENERAL.items():
        publish_guideline(owner, project, stage, text)
    for name, text in guidelines.FOR_EDITING.items():
        publish_guideline(owner, project, Stage.EDIT, text, subtest=subtests[name])
    return subtests


def _generate(build: Build, subtests: dict[str, Subtest], seed: int) -> None:
    opposites = {"pairs": plan.direction_pairs()}
    swaps = {"lexicon": plan.object_lexicon()}
    # One after the other: rows get the same numbers, and tasks the same order, in every run of a seed.
    for name, method, params, prefix in (
        (plan.DIRECTION_SUBTEST, "preposition", opposites, plan.DIRECTION),
        (plan.OBJECT_SUBTEST, "fake", swaps, plan.OBJECT),
    ):
        _run_method(build, subtests[name], method, seed, {"split": "test", "key_prefix": prefix}, params)


def _run_method(
    build: Build, subtest: Subtest, method: str, seed: int, selection: dict[str, Any], params: dict[str, Any]
) -> None:
    run = start_generation(
        build.owner,
        build.project,
        # Without the draw: the clips are made for each opposite, and a small sample would lose half of its captions.
        FoilRequest(
            subtest=subtest,
            method=method,
            params=params,
            filters={slug: {} for slug in DEFAULT_FILTERS},
            seed=seed,
            selection=selection,
        ),
    )
    build.jobs([_job(run.job)], GENERATION_SECONDS, f"foils: {subtest.name}")


def _train(build: Build) -> list[Job]:
    return [
        enqueue(
            f"demo.train_{architecture}",
            build.project.pk,
            title=f"training: {architecture}",
            project_id=build.project.pk,
        )
        for architecture in plan.ARCHITECTURES
    ]


def _work(build: Build, subtests: dict[str, Subtest]) -> None:
    """Do all work on direction and objects, up to the last vote."""
    clips, crew = 2 * build.sizes.pairs, build.crew
    # Every clip has two foils, each edited and reviewed; a rejected scene returns two clips.
    n_returned = sum(len(crew.sent_back(subtests[name])) for name in (plan.DIRECTION_SUBTEST, plan.OBJECT_SUBTEST))
    build.acts(simulated_people.edit_and_review(crew), 4 * clips + 4 * n_returned, "editing and reviewing")
    build.acts(simulated_people.validate(crew), 4 * clips, "validating")


def _leave_work(build: Build, subtests: dict[str, Subtest], seed: int) -> None:
    """Leave counting foils at every stage for the visitor, and some captions without foils."""
    counting = {"split": "test", "key_prefix": plan.COUNTING}
    _run_method(build, subtests[plan.COUNTING_SUBTEST], "number", seed, counting, {})
    crew, count = build.crew, build.sizes.counting
    edited, reviewed, voted = (int(share * count) for share in LEFT_AFTER)
    (ada, ada_person), (ben, ben_person) = crew.players(Role.ANNOTATOR)
    (rosa, rosa_person), _ = crew.players(Role.REVIEWER)
    acts = (
        simulated_people.edits(crew, ada, ada_person, edited // 2),
        simulated_people.edits(crew, ben, ben_person, edited - edited // 2),
        simulated_people.reviews(crew, rosa, rosa_person, reviewed),
        *(simulated_people.votes(crew, player, person, voted) for player, person in crew.players(Role.VALIDATOR)[:2]),
    )
    build.acts(chain.from_iterable(acts), edited + reviewed + 2 * voted, "leaving work for visitors")
    free = [f"{plan.DIRECTION}{scene.key}" for scene in evaluation_scenes(build.sizes.free, seed)[::2]]
    _run_method(build, subtests[plan.FREE_SUBTEST], "person", seed, {"caption_keys": free}, {})


def _score(build: Build, release: Release) -> list[Run]:
    runs = [
        start_scoring(
            build.owner,
            release,
            RunRequest(f"tiny:{plan.model_folder(build.project, architecture)}", label=architecture, controls=True),
        )
        for architecture in plan.ARCHITECTURES
    ]
    build.jobs([_job(run.job) for run in runs], TRAINING_SECONDS, "scoring")
    # The jobs have written into their rows.
    return list(Run.objects.filter(pk__in=[run.pk for run in runs]).order_by("pk"))


def _measure_bias(build: Build) -> None:
    """Describe some videos by rules, and measure what the descriptions alone give away."""
    videos = build.project.videos.order_by("pk")
    keys = [
        key
        for split in ("train", "test")
        for key in videos.filter(split=split).values_list("key", flat=True)[: build.sizes.described]
    ]
    described = describe_videos(build.owner, build.project, DescriptionRequest(recipe=DEMO, videos=keys))
    build.jobs([_job(described.job)], GENERATION_SECONDS, "describing frames")
    measured = measure_bias(build.owner, described, BiasRequest(name=plan.BIAS_RUN, learning_curve=True))
    build.jobs([_job(measured.job)], GENERATION_SECONDS, "measuring biases")


def _job(job: Job | None) -> Job:
    assert job is not None  # start_run has just queued it
    return job


def make_demo(seed: int, progress: Progress, *, sizes: Sizes = plan.FULL, fresh: bool = False) -> dict[str, Any]:
    """Return the sample project of this seed with its numbers; create it if it is missing, or if `fresh`.

    A sample project of a different seed, or an unfinished one, keeps all its data under a different short name.
    """
    began = time.monotonic()
    sample = None if fresh else finished(seed)
    if sample is None:
        _free_short_name()
        with services(workers=WORKERS):
            sample = build(seed, sizes, progress)
    return {**numbers(*sample), "seconds": time.monotonic() - began}


def finished(seed: int) -> tuple[Project, Release, list[Run]] | None:
    """Return the sample project of this seed with its release and its two models' runs; None if any is missing."""
    project = Project.objects.filter(slug=plan.SLUG, is_simulated=True).first()
    if project is None or not GenerationRun.objects.filter(project=project).exists() or plan.seed_of(project) != seed:
        return None
    release = Release.objects.filter(project=project).order_by("pk").first()
    finished_runs = Run.objects.filter(release=release, label__in=plan.ARCHITECTURES, job__state=JobState.DONE)
    runs = list(finished_runs.order_by("pk"))
    return None if release is None or len(runs) < len(plan.ARCHITECTURES) else (project, release, runs)


@transaction.atomic
def _free_short_name() -> None:
    """Free the sample project's short name. Its accounts move to the new one, so it no longer offers them."""
    project = Project.objects.filter(slug=plan.SLUG).first()
    if project is None:
        return
    for job in Job.objects.filter(project_id=project.pk):
        cancel(job)
    before, project.slug = project.slug, f"{plan.SLUG}-{project.pk}"
    project.name, project.sign_in_hint = f"{project.name} ({project.pk})", {}
    project.save(update_fields=["slug", "name", "sign_in_hint"])
    audit.record(audit.event(project, None, "foilworks.demo.set_aside", project, from_state=before))


def numbers(project: Project, release: Release, runs: list[Run]) -> dict[str, Any]:
    """Return the output of `demo --json`: overall validation, the models on the direction subtest, the export."""
    overall = project_report(project, "validation")["overall"]
    models = {run.label: run_results(run)["subtests"][plan.DIRECTION_SUBTEST] for run in runs}
    return {
        "project": project.slug,
        "items": overall["n_items"],
        "valid": overall["n_valid"],
        "unanimous": overall["n_unanimous"],
        "alpha": overall["alpha_all"],
        "js_all": overall["js_all"],
        "js_valid": overall["js_valid"],
        "models": {name: {key: subtest_scores[key] for key in SCORES} for name, subtest_scores in models.items()},
        "release": release.pk,
        "export": str(_export(release)),
    }


def _export(release: Release) -> Path:
    out = Path(settings.EXPORT_ROOT) / f"{plan.SLUG}-{release.pk}"
    out.parent.mkdir(parents=True, exist_ok=True)
    load(EXPORTERS["foilworks"]).write(collect_release(release), out, params={})
    return out
