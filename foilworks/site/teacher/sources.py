"""Collect the training data of a project: captions of one split, and false captions of them, of runs or of a mixture.

The split is the train split unless the training names another one. Clips of other splits are never read. A negative
from any source is left out if it is a true caption of the same video, or if validators did not find it false of that
video.
"""

import hashlib
import json
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from evaluation.errors import EvaluationError
from evaluation.reports.edit_kinds import edited_kinds, subtests_of_action
from evaluation.scoring.clip_keys import clip_key
from evaluation.utd.subsets import chosen
from foilworks.core.corpus.models import (
    NOT_RELIED_ON,
    Caption,
    MediaState,
    Release,
    ReleaseItem,
    Split,
    Video,
)
from foilworks.core.corpus.release_records import cluster
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted, shortened
from foilworks.site.teacher.mixtures import Mixture, mixed, mixture_in, warnings_of
from foilworks.site.teacher.models import TeacherTraining
from foilworks.site.teacher.negatives import NOT_TAKEN, check_sources, covered, plain, refused_texts, texts_of
from foilworks.site.teacher.plan import REFUSE
from foilworks.site.teacher.readings import ACTION, OBJECT, HeldOut
from generation.models import Candidate, CandidateGroup, GenerationRun

# Of a run that a mixture draws from: its foils may change anything.
MIXED = "mixed"
ROWS = 2000
KEPT = "captions.json"


def learnt_split(params: Mapping[str, Any]) -> str:
    """Return the split that a training with these parameters learns from."""
    return str(params.get("split") or Split.TRAIN.value)


def check_held_out(release: Release, split: str = Split.TRAIN.value) -> None:
    """Raise EvaluationError for a release without items, or with source videos of the learned split, which proves
    nothing.
    """
    _check_items(release, split)
    _check_sources(release, _sources_of(release.project, split), split)


def check_learnt(release: Release, videos: Iterable[Video], split: str) -> None:
    """Raise EvaluationError if the release has source videos of `videos`, the data of a started training."""
    _check_sources(release, {name for video in videos for name in _names(vars(video))}, split)


def _check_items(release: Release, split: str) -> None:
    members = ReleaseItem.objects.filter(release=release)
    if not members.exists():
        raise EvaluationError(f"{release.name}: has no items; choose another release")
    seen = members.filter(video__split=split).count()
    if seen:
        raise EvaluationError(
            f"{release.name}: {seen} of its items show clips of the {split} split, which students train on; freeze a "
            "release of other splits"
        )


def _check_sources(release: Release, learnt: set[str], split: str) -> None:
    members = ReleaseItem.objects.filter(release=release)
    shared = [
        record["id"]
        for record in members.order_by("position").values_list("record", flat=True).iterator()
        if not learnt.isdisjoint(_names(record["video"]))
    ]
    if shared:
        raise EvaluationError(
            f"{release.name}: {len(shared)} of its items share source videos with clips of the {split} split, first "
            f"{shared[0]}; freeze a release of other source videos"
        )


def _sources_of(project: Project, split: str) -> set[str]:
    """Return the sources of the captioned clips of a split."""
    rows = Video.objects.filter(project=project, split=split)
    rows = rows.filter(Exists(Caption.objects.filter(video=OuterRef("pk"))))
    source_names: set[str] = set()
    for video in rows.values("source_dataset", "source_id", "sha256", "key").iterator():
        source_names |= _names(video)
    return source_names


def _names(video: Mapping[str, Any]) -> set[str]:
    """Return its source video and its file: the same file may exist under two names."""
    return {cluster(video), *filter(None, [video["sha256"]])}


def held_out_of(release: Release, split: str = Split.TRAIN.value) -> tuple[HeldOut, list[ReleaseItem], list[str]]:
    """Return the set, a member per clip that shows it, and the ids of items whose clip has no file.

    A clip's own caption is that of its first item. EvaluationError: no clip has a file.
    """
    # Not the source videos: clips may join the split during a training that does not use them.
    _check_items(release, split)
    counterfactual = subtests_of_action(release)
    members = ReleaseItem.objects.filter(release=release).select_related("video").order_by("position")
    clips: dict[str, int] = {}
    clip_members: list[ReleaseItem] = []
    left_out: list[str] = []
    rows: list[tuple[str, tuple[str, ...], tuple[str, ...], int]] = []
    for member in members:
        record = member.record
        if member.video is None or member.video.media_state != "ready" or not member.video.file:
            left_out.append(record["id"])
            continue
        key = clip_key(record["video"])
        if key not in clips:
            clips[key] = len(clip_members)
            clip_members.append(member)
        kinds = edited_kinds(record, counterfactual)
        rows.append((record["id"], (record["caption"], *record["foils"]), tuple(kinds), clips[key]))
    if not rows:
        raise EvaluationError(f"{release.name}: none of its clips has a file; attach videos first")
    ids, texts, kinds_of, clip_indices = zip(*rows, strict=True)
    captions = tuple(member.record["caption"] for member in clip_members)
    sources = tuple(cluster(member.record["video"]) for member in clip_members)
    return HeldOut(ids, texts, kinds_of, clip_indices, captions, sources), clip_members, left_out


@dataclass(frozen=True)
class TrainingTexts:
    """n captions with their videos and negatives; `provenance` says as JSON what generated them."""

    captions: list[str]
    videos: list[int]
    negatives: list[list[str]]
    provenance: dict[str, Any]

    def chunk(self, first: int, count: int) -> "TrainingTexts":
        """Return `count` captions from `first` on, with all that belongs to them."""
        rows = (column[first : first + count] for column in (self.captions, self.videos, self.negatives))
        return TrainingTexts(*rows, self.provenance)


def collect(project: Project, params: Mapping[str, Any], *, needs_negatives: bool) -> TrainingTexts:
    """Return the captions of the chosen sources, split and videos (all of the split if no source or video is chosen).

    EvaluationError: an empty split, runs of another project, a source or a caption without negatives.
    """
    mixture, split = mixture_in(params), learnt_split(params)
    runs = _runs(project, params)
    if mixture is not None and any(runs.values()):
        raise EvaluationError("negatives: a mixture replaces action_runs and object_runs; write them as run:ID")
    mixed_runs = check_sources(project, mixture) if mixture is not None else {}
    rows = _captions(project, runs, {**params, "split": split}, mixture)
    if not rows:
        listed = "is of a listed video, " if params.get("videos") else ""
        where = "runs" if mixture is None else "sources"
        raise EvaluationError(
            f"no caption of the {split} split {listed}has a video and is in the chosen {where}; import captions with "
            f"split={split}, or choose other {where}{' or videos' if listed else ''}"
        )
    videos, provenance = {pk: video for pk, _, video in rows}, {}
    if mixture is None:
        negatives_by_caption: Mapping[int, list[str]] = _negatives_of_runs(runs, params, videos)
    else:
        mix = mixed(mixture, texts_of(project, mixture, videos, split))
        negatives_by_caption, warnings = mix.negatives, warnings_of(mixture, mix)
        provenance = {"mixture": {**mixture.params, "shares": mix.shares(mixture), "warnings": warnings}}
    missing = [text for pk, text, _ in rows if not negatives_by_caption.get(pk)]
    if needs_negatives:
        rows = _with_negatives(rows, negatives_by_caption, missing, params)
    negatives = [negatives_by_caption.get(pk, []) for pk, _, _ in rows]
    captions = [text for _, text, _ in rows]
    provenance |= {
        "split": split,
        "captions": len(rows),
        "videos": len({video for _, _, video in rows}),
        "negatives": sum(map(len, negatives)),
        "left_out": len(missing) if needs_negatives else 0,
        "runs": [
            *(_about(run, kind) for kind, kind_runs in runs.items() for run in kind_runs),
            *(_about(run, MIXED) for run in mixed_runs.values()),
        ],
        "sha256": hashlib.sha256(json.dumps([captions, negatives], ensure_ascii=False).encode()).hexdigest(),
    }
    return TrainingTexts(captions, [video for _, _, video in rows], negatives, provenance)


Rows = list[tuple[int, str, int]]


def _with_negatives(
    rows: Rows, negatives_by_caption: Mapping[int, Sequence[str]], missing: Sequence[str], params: Mapping[str, Any]
) -> Rows:
    """Return the captions that have negatives. EvaluationError: some have none and may not be left out, or all."""
    if missing and params["without_negatives"] == REFUSE:
        raise EvaluationError(
            f"{quoted(missing[0])} has no negatives, nor do {len(missing) - 1} more captions; generate some for "
            "them, or set without_negatives=leave_out"
        )
    usable_rows = [row for row in rows if negatives_by_caption.get(row[0])]
    if not usable_rows:
        split = learnt_split(params)
        raise EvaluationError(f"the chosen runs made no foils for captions of the {split} split; choose other runs")
    return usable_rows


def runs_to_choose(project: Project) -> QuerySet[GenerationRun]:
    """Return runs with candidates of train captions, newest first."""
    groups = CandidateGroup.objects.filter(caption__video__split=Split.TRAIN, run__project=project)
    return GenerationRun.objects.filter(pk__in=groups.values("run")).select_related("subtest").order_by("-pk")


def _runs(project: Project, params: Mapping[str, Any]) -> dict[str, list[GenerationRun]]:
    runs_by_kind = {}
    for kind, name in ((ACTION, "action_runs"), (OBJECT, "object_runs")):
        run_ids = [int(pk) for pk in params.get(name, ())]
        rows = GenerationRun.objects.filter(project=project).in_bulk(run_ids)
        if unknown_ids := [str(pk) for pk in run_ids if pk not in rows]:
            raise EvaluationError(f"{name}: {shortened(', '.join(unknown_ids))}: no such run in this project")
        runs_by_kind[kind] = [rows[pk] for pk in run_ids]
    return runs_by_kind


def _captions(
    project: Project, runs: Mapping[str, list[GenerationRun]], params: Mapping[str, Any], mixture: Mixture | None
) -> Rows:
    videos = chosen(Video.objects.filter(project=project, media_state=MediaState.READY), params)
    rows = Caption.objects.filter(video__in=videos).exclude(NOT_RELIED_ON)
    makers = [run.pk for kind_runs in runs.values() for run in kind_runs]
    if makers:
        rows = rows.filter(pk__in=CandidateGroup.objects.filter(run__in=makers).values("caption"))
    if mixture is not None:
        rows = rows.filter(covered(project, mixture, params["split"]))
    return list(rows.order_by("pk").values_list("pk", "text", "video_id"))


def _negatives_of_runs(
    runs: Mapping[str, list[GenerationRun]], params: Mapping[str, Any], videos: Mapping[int, int]
) -> dict[int, list[str]]:
    """Return {caption: its negatives}: the requested number of each kind, best rank first."""
    refused = refused_texts(set(videos.values()))
    negatives_by_caption: dict[int, list[str]] = defaultdict(list)
    for kind, count in ((ACTION, params["actions"]), (OBJECT, params["objects"])):
        taken: dict[int, int] = defaultdict(int)
        rows = Candidate.objects.filter(group__run__in=[run.pk for run in runs[kind]]).exclude(state__in=NOT_TAKEN)
        ordered = rows.order_by("group__caption_id", "rank", "group__run_id", "pk")
        for caption, text in ordered.values_list("group__caption_id", "text").iterator(ROWS):
            if caption not in videos or taken[caption] >= count:
                continue
            if plain(text) not in refused[videos[caption]] and text not in negatives_by_caption[caption]:
                negatives_by_caption[caption].append(text)
                taken[caption] += 1
    return negatives_by_caption


def _about(run: GenerationRun, kind: str) -> dict[str, Any]:
    rows = Candidate.objects.filter(group__run=run).exclude(model_id="")
    models = rows.order_by().values_list("model_id", "model_revision", "prompt_template").distinct()
    return {
        "run": run.pk,
        "kind": kind,
        "subtest": run.subtest_id,
        "method": run.method,
        "version": run.method_version,
        "mode": run.mode,
        "params": run.params,
        "seed": run.seed,
        "models": [" ".join(filter(None, row)) for row in models[:20]],
    }


def train_videos(pks: Iterable[int], split: str) -> dict[int, Video]:
    """Return videos by id; only those in the learned split."""
    video_ids = sorted(set(pks))
    videos_by_id: dict[int, Video] = {}
    for start in range(0, len(video_ids), ROWS):
        videos_by_id |= Video.objects.filter(split=split).in_bulk(video_ids[start : start + ROWS])
    return videos_by_id


def stored_texts(
    training: TeacherTraining, folder: Path, *, needs_negatives: bool
) -> tuple[TrainingTexts, list[Video]]:
    """Return the captions as they were when the training began, and the clip of each.

    EvaluationError: there is nothing to train on, or a clip changed since.
    """
    path, split = folder / KEPT, learnt_split(training.params)
    if path.is_file():
        record = json.loads(path.read_text(encoding="utf-8"))
        training_texts = TrainingTexts(**record["collected"])
        _check_clips(training_texts.videos, record["clips"], split)
    else:
        training_texts = collect(training.project, training.params, needs_negatives=needs_negatives)
        if training_texts.provenance["sha256"] != training.sources.get("sha256"):
            # From a version that stored no captions: checkpoint and similarities belong to other captions.
            shutil.rmtree(folder, ignore_errors=True)
            if training.release is not None:
                # Clips may have been added since the training was requested.
                check_learnt(training.release, train_videos(training_texts.videos, split).values(), split)
        folder.mkdir(parents=True, exist_ok=True)
        record = {"collected": asdict(training_texts), "clips": _clips(training_texts.videos, split)}
        path.with_suffix(".new").write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
        path.with_suffix(".new").replace(path)
    videos = train_videos(training_texts.videos, split)
    return training_texts, [videos[pk] for pk in training_texts.videos]


def stored_captions(folder: Path) -> TrainingTexts:
    """Return the captions that `stored_texts` stored. EvaluationError: this host has no such folder."""
    path = folder / KEPT
    if not path.is_file():
        raise EvaluationError(f"{path}: not found; share the models folder among all hosts, then retry the training")
    return TrainingTexts(**json.loads(path.read_text(encoding="utf-8"))["collected"])


def _clips(pks: Sequence[int], split: str) -> dict[str, list[Any]]:
    """Return {id: key, file and trim} of those that can be shown."""
    ready = (video for video in train_videos(pks, split).values() if video.media_state == MediaState.READY)
    return {str(video.pk): [video.key, video.sha256, video.start_time, video.end_time] for video in ready}


def _check_clips(pks: Sequence[int], stored_clips: dict[str, list[Any]], split: str) -> None:
    now = _clips(pks, split)
    changed = [clip[0] for pk, clip in stored_clips.items() if now.get(pk) != clip]
    if changed:
        raise EvaluationError(
            f"{changed[0]}: the clip changed since this training began, as did {len(changed) - 1} more; start a new "
            "training"
        )
