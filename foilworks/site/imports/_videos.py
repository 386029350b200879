"""Store the clips of an import: one row per key, with the files that were found."""

import json
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from foilworks.core.corpus.models import Caption, MediaState, Takedown, Video
from foilworks.core.corpus.records import ItemRecord, RecordWarning, VideoRecord
from foilworks.core.corpus.video_files.ingest import MEDIA_FIELDS, set_media
from foilworks.core.corpus.video_files.player import plays_elsewhere
from foilworks.core.corpus.video_files.replaced_files import versions_of
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import User
from foilworks.core.text.quoting import quoted
from foilworks.site.imports._changes import CONTENT
from foilworks.site.imports.batch import MAX_MISSING, Batch, chunks, text_sha256

_SAME = ("url", "start_time", "end_time", "time_unit")
_SOURCE = ("source_dataset", "source_id")
# Of a key with the number of a version behind it.
MAX_FIRST_KEY = 190
# What a data set says about a clip; its location and trim do not count.
LABELS = ("url", "source_dataset", "source_id", "split", "class_label", "category", "movie")


def check_videos(batch: Batch) -> None:
    """Load the existing clips, refuse records that give a clip a different trim or address."""
    repeated_keys = _refuse_two_clips_of_one_key(batch)
    wanted_keys = {record.video.key for record in batch.records}
    for keys in chunks(list(wanted_keys & repeated_keys if batch.is_first_import else wanted_keys)):
        batch.videos.update({key: videos[-1] for key, videos in versions_of(batch.project, keys).items()})
    if not batch.writes:
        batch.videos.update(_checked(batch, repeated_keys - batch.videos.keys()))
    _refuse_other_trims(batch)


def refuse_taken_down(batch: Batch) -> None:
    """Refuse texts on a clip that was taken down, or on a clip of the same source. Records that are stored unchanged
    remain, because nobody receives them any more.
    """
    if batch.is_first_import:
        return
    rows = Takedown.objects.filter(video__project=batch.project)
    by_key: dict[str, str] = {}
    by_source: dict[tuple[str, str], str] = {}
    for reason, key, *source in rows.values_list("reason", "video__key", *(f"video__{name}" for name in _SOURCE)):
        by_key[key] = reason
        if source[1]:
            by_source[source[0], source[1]] = reason
    brings = CONTENT if batch.update else frozenset[str]()
    clashes = []
    for record in batch.records:
        video = record.video
        source_id = video.source_id or video.file
        reason = by_key.get(video.key) or by_source.get((video.source_dataset, source_id))
        if reason and (record.id not in batch.stored or brings & batch.differences.get(record.id, {}).keys()):
            clashes.append((record, "video", f"was taken down from the project: {reason}", "remove the record"))
    repeating = _repeating(batch, [record for record, *_ in clashes])
    batch.refuse(clash for clash in clashes if clash[0].id not in repeating)


def _repeating(batch: Batch, records: list[ItemRecord]) -> set[str]:
    """Return ids of records without foils whose text is already stored for their clip, under another id."""
    without_foils = [record for record in records if not record.foils and record.id not in batch.stored]
    clips = {batch.videos[record.video.key].pk for record in without_foils if record.video.key in batch.videos}
    texts: set[tuple[str, str]] = set()
    for chunk in chunks(sorted(clips)):
        texts.update(Caption.objects.filter(video__in=chunk).values_list("video__key", "text_sha256"))
    return {record.id for record in without_foils if (record.video.key, text_sha256(record.caption)) in texts}


def store_videos(batch: Batch, actor: User | None) -> None:
    """Create the new clips, attach files to those without one, and replace those that the import may replace."""
    video_by_key: dict[str, VideoRecord] = {}
    for record in batch.records:
        earlier = video_by_key.get(record.video.key)
        video_by_key[record.video.key] = _joined(earlier, record.video) if earlier else record.video
    old_by_key = {key: batch.videos[key] for key in video_by_key if key in batch.videos}
    old = list(dict.fromkeys(old_by_key.values()))
    new = [_row(batch, video) for key, video in video_by_key.items() if key not in batch.videos]
    _complete(batch, old_by_key, video_by_key)
    _count_without_captions(batch, old_by_key)
    without_file = {key: v for key, v in old_by_key.items() if v.media_state != MediaState.READY and key in batch.media}
    lacking = list(dict.fromkeys(without_file.values()))
    for key, video in [*without_file.items(), *((video.key, video) for video in new if video.key in batch.media)]:
        set_media(video, batch.media[key], batch.taken_down)
    for video in [*old, *new]:
        # If a trim counts ticks or frames of a missing file, the player would show the whole file.
        in_seconds = video.time_unit == "sec"
        if video.media_state == MediaState.MISSING and in_seconds and plays_elsewhere(video.url):
            video.media_state = MediaState.ELSEWHERE
            lacking += [video] if video.pk else []
    lacking += (replaced := _replace_files(batch, actor, old_by_key))
    new += (versions := _new_versions(batch, old_by_key, video_by_key))
    batch.update_rows(lacking, MEDIA_FIELDS)
    batch.insert(new, batch.started)
    if not batch.writes:
        _remember(batch, new)
    _record_versions(batch, actor, versions)
    batch.videos.update({key: video for video in new for key in video.keys})
    batch.new_clips.update(video.key for video in new)
    batch.result.created["videos"] += len(new)
    batch.result.attached += sum(video.media_state == MediaState.READY for video in lacking) - len(replaced)
    for video in [*old, *new]:
        if not batch.is_first("clip", video.key):
            continue
        batch.result.media[video.media_state] += 1
        if video.media_state == MediaState.MISSING and len(batch.result.missing) < MAX_MISSING:
            batch.result.missing.append(video.key)
        if video.media_state == MediaState.BROKEN:
            batch.result.broken.append({"video": video.key, "error": video.media_error})
        if video.conversion and video.media_state == MediaState.READY and video.key in batch.media:
            batch.result.converted.append({"video": video.key, "conversion": video.conversion})


def _new_versions(
    batch: Batch, old_by_key: Mapping[str, Video], video_by_key: Mapping[str, VideoRecord]
) -> list[Video]:
    """Return a new row for each used clip with another file: what people did stays with the file that they saw."""
    versions = []
    for key, video in old_by_key.items():
        first_key = video.version_of or video.key
        if key not in batch.versions or not batch.is_first("version", first_key):
            continue
        n_versions = Video.objects.filter(project=batch.project, version_of=first_key).exclude(version_of="").count()
        version = _row(batch, video_by_key[key])
        for name in (*LABELS, "content_warning"):
            setattr(version, name, getattr(video, name))
        version.version_of = first_key
        version.key = f"{first_key[:MAX_FIRST_KEY]}#v{n_versions + 2}"
        set_media(version, batch.media[key], batch.taken_down)
        if _stays(batch, version):
            continue
        batch.result.versions.append(version.key)
        versions.append(version)
    return versions


def _stays(batch: Batch, trial: Video) -> bool:
    """Warn if the new file cannot be used, and report that."""
    if trial.media_state == MediaState.READY:
        return False
    problem = f"{trial.media_error}; the stored file stays"
    batch.result.warnings.append(str(RecordWarning(str(batch.path), "video", problem)))
    return True


def _record_versions(batch: Batch, actor: User | None, versions: Iterable[Video]) -> None:
    if batch.writes:
        audit.record_many(
            audit.event(batch.project, actor, "corpus.add_version", video, of=video.version_of, sha256=video.sha256)
            for video in versions
        )


def _replace_files(batch: Batch, actor: User | None, old_by_key: Mapping[str, Video]) -> list[Video]:
    """Put the new file on clips that nobody used, with an audit row each. A file that cannot be used replaces none."""
    replaced, events = [], []
    for key, video in old_by_key.items():
        if key not in batch.replaced or not batch.is_first("replaced", video.key):
            continue
        before, trial = video.sha256, copy(video)
        set_media(trial, batch.media[key], batch.taken_down)
        if _stays(batch, trial):
            continue
        set_media(video, batch.media[key], batch.taken_down)
        batch.result.replaced.append(video.key)
        replaced.append(video)
        hashes = {"sha256": video.sha256, "made_from": batch.media[key].made_from, "before": before}
        events.append(audit.event(batch.project, actor, "corpus.replace_media", video, **hashes))
    if batch.writes:
        audit.record_many(events)
    return replaced


def label_differences(batch: Batch, record: ItemRecord, stored_video: Video) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Return (name, (stored, of the record)) of differing labels, for the first record of the file that has them."""
    for name in LABELS:
        label = getattr(record.video, name)
        if label and batch.is_first("label", stored_video.key, name) and label != getattr(stored_video, name):
            yield f"video.{name}", (getattr(stored_video, name), label)


def _complete(batch: Batch, old_by_key: Mapping[str, Video], video_by_key: Mapping[str, VideoRecord]) -> None:
    """Complete clips of an earlier chunk of this file with what only a later record has."""
    completed = []
    for key, video in old_by_key.items():
        if not batch.made_now(video):
            continue
        new_labels = {n: v for n in LABELS if (v := getattr(video_by_key[key], n)) and not getattr(video, n)}
        for name, value in new_labels.items():
            setattr(video, name, value)
        completed += [video] if new_labels else []
    batch.update_rows(completed, LABELS)
    if not batch.writes:
        _remember(batch, completed)


def _count_without_captions(batch: Batch, old: Mapping[str, Video]) -> None:
    """Count the records without a caption. Stored clips take the labels that they lack; other differences are
    warnings, or replace the stored label if the import may update."""
    changed = []
    for record in batch.records:
        if record.caption:
            continue
        batch.result.without_captions += 1
        stored_video = old.get(record.video.key)
        if stored_video is None:
            continue
        batch.result.unchanged["videos"] += 1
        labels = {
            name: value
            for name in LABELS
            if (value := getattr(record.video, name)) != getattr(stored_video, name) and value
        }
        batch.result.relabelled += any(getattr(stored_video, name) for name in labels)
        for name, value in labels.items():
            if getattr(stored_video, name) and not batch.update:
                problem = (
                    f"is {quoted(value)}, but {quoted(getattr(stored_video, name))} is stored; import with --update"
                )
                batch.result.warnings.append(str(RecordWarning(batch.where(record), name, problem)))
            elif stored_video.media_state != MediaState.TAKEN_DOWN:
                setattr(stored_video, name, value)
                changed.append(stored_video)
    batch.update_rows(changed, LABELS)


def _remember(batch: Batch, videos: Iterable[Video]) -> None:
    """Keep the clips that a check met, which no table has, for the chunks that follow."""
    for number, video in enumerate(videos):
        video.pk = video.pk or -1 - batch.result.created["videos"] - number
        values = {name: getattr(video, name) for name in ("id", "key", *_SAME, *LABELS, "media_state")}
        batch.seen.put(json.dumps(["row", video.key]), json.dumps(values))


def _checked(batch: Batch, keys: Iterable[str]) -> dict[str, Video]:
    """Return those of the clips that an earlier chunk of a check met."""
    rows = {key: batch.seen.get(json.dumps(["row", key])) for key in keys}
    return {key: Video(created_at=batch.started, **json.loads(row)) for key, row in rows.items() if row}


def _joined(first: VideoRecord, later: VideoRecord) -> VideoRecord:
    """Return what the first record says about the clip, completed by what only the other says."""
    new_fields = {name: value for name, value in vars(later).items() if value and not getattr(first, name)}
    return replace(first, **new_fields) if new_fields else first


def _row(batch: Batch, video: VideoRecord) -> Video:
    facts = dict(vars(video))
    # Without an id, a later search uses the name of the file.
    facts["source_id"] = video.source_id or video.file
    del facts["file"]
    return Video(project_id=batch.project.pk, **facts)


def _refuse_two_clips_of_one_key(batch: Batch) -> set[str]:
    """Refuse records whose key an earlier record of the file used for a different clip."""
    clashes, repeated_keys = [], set()
    for record in batch.records:
        clip_fields = {name: getattr(record.video, name) for name in _SAME}
        earlier = batch.clips.setdefault(record.video.key, json.dumps([record.line, clip_fields]))
        if earlier is None:
            continue
        repeated_keys.add(record.video.key)
        line, earlier_fields = json.loads(earlier)
        name = next((name for name in _SAME if clip_fields[name] != earlier_fields[name]), "")
        if name:
            difference = f"is {quoted(clip_fields[name])}, but {quoted(earlier_fields[name])} on line {line}"
            problem = f"{difference}, for the clip {quoted(record.video.key)}"
            clashes.append((record, name, problem, "give each clip its own video_key"))
    batch.refuse(clashes)
    return repeated_keys


def _refuse_other_trims(batch: Batch) -> None:
    """Refuse different trims. Stored seconds may come from pts or frames; those are not compared."""
    clashes = []
    for record in batch.records:
        stored_video = batch.videos.get(record.video.key)
        if stored_video is None or stored_video.time_unit != record.video.time_unit:
            continue
        for name in ("start_time", "end_time"):
            file_value, stored_value = getattr(record.video, name), getattr(stored_video, name)
            if file_value != stored_value:
                values = f"is {quoted(file_value)}, but {quoted(stored_value)} is stored"
                problem = f"{values} for the clip {quoted(stored_video.key)}"
                clashes.append((record, name, problem, "give the clip a different video_key"))
                break
    batch.refuse(clashes)
