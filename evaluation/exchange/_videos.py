"""Clips of an import: one row a key, files that were found put on them."""

from dataclasses import asdict, replace

from corpus.media_files import MEDIA_FIELDS, set_media
from corpus.models import MediaState, Video
from corpus.records import ItemRecord, VideoRecord
from evaluation.exchange.batch import CHUNK, Batch, chunks

_SAME = ("url", "start_time", "end_time", "time_unit")


def check_videos(batch: Batch) -> None:
    """Load the clips that are there, refuse records that give a clip another trim or address."""
    _refuse_two_clips_of_one_key(batch)
    for keys in chunks(list({record.video.key for record in batch.records})):
        batch.videos.update({v.key: v for v in Video.objects.filter(project=batch.project, key__in=keys)})
    _refuse_other_trims(batch)


def store_videos(batch: Batch) -> None:
    """Make the clips that are new, attach files to those that lack one."""
    wanted: dict[str, VideoRecord] = {}
    for record in batch.records:
        known = wanted.get(record.video.key)
        wanted[record.video.key] = _joined(known, record.video) if known else record.video
    old = [batch.videos[key] for key in wanted if key in batch.videos]
    new = [_row(batch, video) for key, video in wanted.items() if key not in batch.videos]
    lacking = [video for video in old if video.media_state != MediaState.READY and video.key in batch.media]
    for video in [*lacking, *(video for video in new if video.key in batch.media)]:
        set_media(video, batch.media[video.key])
    Video.objects.bulk_update(lacking, MEDIA_FIELDS, batch_size=CHUNK)
    batch.videos.update({video.key: video for video in Video.objects.bulk_create(new, batch_size=CHUNK)})
    batch.result.created["videos"] += len(new)
    batch.result.attached += sum(video.media_state == MediaState.READY for video in lacking)
    for video in [*old, *new]:
        batch.result.media[video.media_state] += 1
        if video.media_state == MediaState.BROKEN:
            batch.result.broken.append({"video": video.key, "error": video.media_error})


def _joined(first: VideoRecord, other: VideoRecord) -> VideoRecord:
    """What the first record says of the clip, completed by what only the other says."""
    news = {name: value for name, value in asdict(other).items() if value and not getattr(first, name)}
    return replace(first, **news)


def _row(batch: Batch, video: VideoRecord) -> Video:
    facts = asdict(video)
    # Where no id is given, the file's own name is what a later search for it goes by.
    facts["source_id"] = video.source_id or video.file
    del facts["file"]
    return Video(project=batch.project, **facts)


def _refuse_two_clips_of_one_key(batch: Batch) -> None:
    first: dict[str, ItemRecord] = {}
    clashes = []
    for record in batch.records:
        other = first.setdefault(record.video.key, record)
        for name in _SAME:
            mine, its = getattr(record.video, name), getattr(other.video, name)
            if mine != its:
                problem = f"is {mine!r}, but {its!r} on line {other.line}, for the clip {record.video.key[:80]!r}"
                clashes.append((record, name, problem, "give each clip its own video_key"))
                break
    batch.refuse(clashes)


def _refuse_other_trims(batch: Batch) -> None:
    """Stored trims in seconds may have come from pts; those are not compared."""
    clashes = []
    for record in batch.records:
        stored = batch.videos.get(record.video.key)
        if stored is None or stored.time_unit != record.video.time_unit:
            continue
        for name in ("start_time", "end_time"):
            mine, its = getattr(record.video, name), getattr(stored, name)
            if mine != its:
                problem = f"is {mine!r}, but {its!r} is stored for the clip {stored.key[:80]!r}"
                clashes.append((record, name, problem, "give the clip another video_key"))
                break
    batch.refuse(clashes)
