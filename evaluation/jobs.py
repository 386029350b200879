"""Scoring runs: a release's distinct (clip, text) pairs through one model, stored as they come, resumable.

What is stored is never asked again: a rerun, a second release with the same items or the successor of a killed worker
asks only for what is missing. The model loads once a job.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from django.utils import timezone

from corpus.models import MediaState, ReleaseItem, Video
from evaluation.blind_scoring import score_blind
from evaluation.clip_keys import item_key, text_key
from evaluation.dashboard.kept import keep as keep_count
from evaluation.errors import EvaluationError
from evaluation.exchange import uploaded
from evaluation.leaderboard import board
from evaluation.model_cards import stated
from evaluation.models import Import, ModelCard, ProximityRun, Report, Run, Score
from evaluation.protocol_models import reader, scores_by_item, under_protocol
from evaluation.protocols import PROTOCOLS
from evaluation.proximity_measuring import measure
from evaluation.queries import SCORE_FILE, asked_of, control_key, control_texts, records_of
from evaluation.reports import project_report
from evaluation.run_scores import keep
from evaluation.score_readers import AUTO, read_given
from evaluation.scoring import Clip, PairScore, Tally, score_pairs
from evaluation.scoring_caches import caches
from evaluation.trusted_models import trust_of
from hub.interfaces import ModelInfo
from hub.table import open_adapter
from jobs.models import Job
from jobs.progress import progress
from projects.models import Project
from text.errors import ActionableError

CLIPS_A_SHARD = 512
# A killed worker loses at most these, and the clip batch it was at.
SCORES_A_WRITE = 64
ROWS_A_QUERY = 500


@dataclass
class _ClipWork:
    clip: Clip
    texts: dict[str, None] = field(default_factory=dict)  # insertion-ordered set
    items: dict[str, None] = field(default_factory=dict)  # insertion-ordered set


def run_scoring(run_id: int, job: Job) -> None:
    """Score the run's release. Problems (media that is missing or unreadable, ids that do not match) go to the run."""
    run = Run.objects.select_related("release__project").get(pk=run_id)
    problems = _store_file(run, job) if run.spec.startswith(SCORE_FILE) else _score(run, job)
    run.problems = {name: found for name, found in problems.items() if found}
    run.scored_at = timezone.now()
    run.save(update_fields=["problems", "scored_at"])
    keep(run)
    # The board as visitors first see it: none of them waits for the comparison of all pairs of models.
    board(run.release)


def _score(run: Run, job: Job) -> dict[str, Any]:
    protocol = PROTOCOLS[run.protocol]
    trust = trust_of(run.release.project, run.spec)
    adapter = under_protocol(open_adapter(run.spec, device=run.device, trust=trust), protocol)
    info: ModelInfo = adapter.info
    by_item, kept = scores_by_item(adapter, protocol), caches(protocol, info)
    run.params = {**run.params, "by_item": by_item}
    run.model_key = f"{info.model_id}@{info.revision}{kept.suffix}"
    run.save(update_fields=["model_key", "params"])
    # What a person wrote about the model stays as it is.
    ModelCard.objects.get_or_create(
        project=run.release.project, model_key=run.model_key, defaults=stated(info.card)
    )  # fmt: skip
    work, without_media = _work(run, info.needs_video, by_item)
    wanted = sum(len(each.texts) for each in work)
    todo = list(_missing(run, work, info.needs_video))
    done = wanted - sum(len(texts) for _, texts in todo)
    progress(job, done, wanted, f"{info.model_id}: {wanted} distinct texts of {len(work)} clips")
    tally, read = Tally(), reader(protocol, kept.frames)
    for shard in _batches(todo, CLIPS_A_SHARD):
        found = score_pairs(adapter, shard, tally=tally, read=read, kept=kept.vectors)
        for scores in _batches(found, SCORES_A_WRITE):
            _store(run, info, scores)
            done += len(scores)
            progress(job, done, wanted)
    progress(job, wanted, wanted)
    return {"missing_media": without_media, **_listed(work, tally)}


def _listed(work: Iterable[_ClipWork], tally: Tally) -> dict[str, Any]:
    """What gave no score, item by item: {"unreadable": [{"item", "why"}], "refused": ..., "not_finite": ...}."""
    unreadable, refused = dict(tally.unreadable), dict(tally.refused)
    not_finite: dict[str, list[str]] = {}
    found: dict[str, Any] = {"unreadable": [], "refused": [], "not_finite": []}
    for key, text, value in tally.not_finite:
        if key is None:
            # Of a text-only model, whose value holds wherever the text stands.
            found["not_finite"].append({"item": text, "why": f"the model gave {value}"})
        else:
            not_finite.setdefault(key, []).append(f"the model gave {value} for '{text[:80]}'")
    for each in work:
        for name, why in (
            ("unreadable", unreadable.get(each.clip.key)),
            ("refused", refused.get(each.clip.key)),
            ("not_finite", "; ".join(not_finite.get(each.clip.key, [])[:3]) or None),
        ):
            found[name] += [{"item": item, "why": why} for item in each.items if why]
    return found


def _work(run: Run, needs_video: bool, by_item: bool) -> tuple[list[_ClipWork], list[str]]:
    """Distinct texts by distinct clip (under one empty clip for a text-only model); items whose media is missing.

    `by_item`: each item and each proficiency pair is a clip of its own, with its own texts alone.
    """
    found: dict[str, _ClipWork] = {}
    without_media: list[str] = []
    control = run.params.get("control")
    sampled = control_texts(records_of(run.release), control) if control else {}
    members = ReleaseItem.objects.filter(release=run.release).select_related("video").order_by("position")
    for member in members.iterator(chunk_size=ROWS_A_QUERY):
        asked = asked_of(member.record, by_item)
        among = sampled.get(member.record["id"], ())
        for key, texts in (
            (asked.main_key, asked.main),
            (asked.proficiency_key, asked.proficiency),
            (control_key(member.record, by_item), among),
        ):
            clip = _clip(key, member.video, member.record["video"]) if needs_video else Clip("")
            if clip is None:
                without_media.append(member.record["id"])
                break
            if texts:
                each = found.setdefault(clip.key, _ClipWork(clip))
                each.texts.update(dict.fromkeys(texts))
                each.items[member.record["id"]] = None
    return list(found.values()), without_media


def _clip(key: str, video: Video | None, frozen: dict[str, Any]) -> Clip | None:
    """The clip as frozen; None without its file. A file attached after the freeze is shown under its frozen trim."""
    if video is None or video.media_state != MediaState.READY or not video.file:
        return None
    same_unit = frozen["time_unit"] == "sec"
    start = frozen["start_time"] if same_unit else video.start_time
    end = frozen["end_time"] if same_unit else video.end_time
    return Clip(key, Path(video.file.path), start, end, video.sha256)


def _missing(run: Run, work: list[_ClipWork], needs_video: bool) -> Iterator[tuple[Clip, list[str]]]:
    """Clips with the texts that are not stored yet."""
    rows = Score.objects.filter(model_key=run.model_key, protocol=run.protocol)
    if not needs_video:
        rows = rows.filter(clip_key="")
    stored = set(rows.values_list("clip_key", "text_sha256").iterator(chunk_size=ROWS_A_QUERY))
    for each in work:
        texts = [text for text in each.texts if (each.clip.key, text_key(text)) not in stored]
        if texts:
            # A softmax is over all texts of its item.
            yield each.clip, list(each.texts) if run.params["by_item"] else texts


def _store(run: Run, info: ModelInfo, scores: Iterable[PairScore]) -> None:
    rows = [
        Score(
            model_key=run.model_key,
            protocol=run.protocol,
            clip_key=score.clip_key or "",
            text_sha256=text_key(score.text),
            value=score.value,
            kind=info.kind.value,
            higher_is_better=info.higher_is_better,
        )
        for score in scores
    ]
    # Another worker may have stored the same pair meanwhile: the same model gave the same value.
    Score.objects.bulk_create(rows, batch_size=ROWS_A_QUERY, ignore_conflicts=True)


def _batches(things: Iterable[Any], size: int) -> Iterator[list[Any]]:
    source = iter(things)
    while batch := list(islice(source, size)):
        yield batch


def _store_file(run: Run, job: Job) -> dict[str, Any]:
    """A score file's values under its own hash, by item. Ids that stand on one side only are listed, not dropped."""
    path = Path(run.spec.removeprefix(SCORE_FILE))
    able = Path(run.params["proficiency"]) if run.params.get("proficiency") else None
    records = records_of(run.release)
    try:
        data = read_given(path, run.params.get("form", AUTO), records, able)
    except ActionableError as error:
        # Named as its sender knows it: the folder is nobody's business.
        raise EvaluationError(str(error).replace(f"{path.parent}/", "")) from error
    content = path.read_bytes() + (able.read_bytes() if able else b"")
    run.model_key = "file:" + hashlib.sha256(content).hexdigest()
    run.save(update_fields=["model_key"])
    given = {name: row for row, name in enumerate(data.ids)}
    given |= {f"{subtest}:{name}": given[name] for name, subtest in zip(data.ids, data.subtests, strict=True)}
    problems: dict[str, Any] = {"not_in_file": [], "not_in_release": [], "wrong_number_of_texts": []}
    used: set[int] = set()
    rows: list[Score] = []
    for record in records:
        row = given.get(record["id"])
        if row is None:
            problems["not_in_file"].append(record["id"])
            continue
        used.add(row)
        asked = asked_of(record, by_item=True)
        parts = [("main", asked.main, data.main[row]), ("proficiency", asked.proficiency, data.proficiency[row])]
        for part, texts, scores in parts:
            values = scores[~np.isnan(scores)]
            if len(values) == len(texts):
                rows += _file_rows(run, item_key(record, part), texts, values.tolist())
            elif part == "main" or len(values):
                problems["wrong_number_of_texts"].append(f"{record['id']} ({part})")
    problems["not_in_release"] = [name for row, name in enumerate(data.ids) if row not in used]
    if not rows:
        raise EvaluationError(f"{path.name}: no id of it is in the release; name records as in its items.jsonl")
    Score.objects.bulk_create(rows, batch_size=ROWS_A_QUERY, ignore_conflicts=True)
    progress(job, len(records), len(records), f"{len(used)} items")
    return problems


def _file_rows(run: Run, key: str, texts: tuple[str, ...], values: list[float]) -> list[Score]:
    """Rows of one item; of a foil that stands twice in it the higher score counts, its stronger rival."""
    best: dict[str, float] = {}
    for text, value in zip(texts, values, strict=True):
        best[text] = max(value, best.get(text, value))
    return [
        Score(
            model_key=run.model_key,
            protocol=run.protocol,
            clip_key=key,
            text_sha256=text_key(text),
            value=value,
            kind="file",
        )
        for text, value in best.items()
    ]


def preview_import(import_id: int, job: Job) -> None:
    """Say what importing the files of this import would do."""
    uploaded.preview(Import.objects.select_related("project", "created_by").get(pk=import_id), job)


def run_import(import_id: int, job: Job) -> None:
    """Import the files of this import."""
    uploaded.store(Import.objects.select_related("project", "created_by").get(pk=import_id), job)


def compute_report(report_id: int, job: Job) -> None:
    """Compute a report of BY_JOB as its row asks; nothing where it is up to date."""
    row = Report.objects.select_related("project").get(pk=report_id)
    params = dict(row.params)
    subtest = params.pop("subtest", None)
    progress(job, 0, 1, "computing")
    project_report(row.project, row.kind, subtest=subtest, params=params)
    progress(job, 1, 1, "done")


def count_dashboard(project_id: int, job: Job) -> None:
    """Count a project anew for its dashboard."""
    progress(job, 0, 1, "counting")
    keep_count(Project.objects.get(pk=project_id))
    progress(job, 1, 1, "done")


def measure_proximity(proximity_id: int, job: Job) -> None:
    """Measure by an encoder how near the foils of a release are to their captions."""
    measure(ProximityRun.objects.select_related("release").get(pk=proximity_id), job)


def run_blind_scoring(scorer_id: int, job: Job) -> None:
    """Score the texts of a project without any video, for its blind audit."""
    score_blind(scorer_id, job)
