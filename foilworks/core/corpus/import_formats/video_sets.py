"""Published lists of videos without captions, each with its class and split, for reports about videos.

`kinetics`: Kinetics-400, -600 and -700, `label, youtube_id, time_start, time_end, split`, or the same in JSON by id:
`{"abc": {"annotations": {"label", "segment"}, "subset"}}`. The list of the test set has no column `label`. The clip is
the file that the usual download scripts cut, `YOUTUBEID_START_END`, both with six digits.

`moments`: Moments in Time, `blocking/getty-karate.mp4, blocking, 3, 0` without a header. The numbers of workers for and
against the class are not stored. Classes of several words are joined by "+" in the list; they are stored with blanks.

`ucf101`: UCF101, one `Archery/v_Archery_g08_c01.avi 3` per line; test lists have no number. The class is the folder's
name in words: "apply eye makeup".
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from foilworks.core.corpus.import_formats.parsing.clip_fields import seconds_of
from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.formats import File, Format, json_members
from foilworks.core.corpus.import_formats.parsing.records import RawRecord, checked_id, video_alone, video_of
from foilworks.core.corpus.import_formats.parsing.splits import named_split
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, read_rows, split_rows
from foilworks.core.corpus.import_formats.parsing.text_lines import lines
from foilworks.core.corpus.records import MAX_ID, ItemRecord
from foilworks.core.text.quoting import quoted

_KINETICS_COLUMNS = ("youtube_id", "time_start", "time_end")
_KINETICS_VERSION = re.compile(r"(?<!\d)[4-7]00(?!\d)")
_UCF101_LINE = re.compile(r"(?P<class>[^/\s]+)/(?P<file>\S+)(?:\s+\d+)?\s*")
_UCF101_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


def _kinetics_rows(file: File) -> Iterator[RawRecord]:
    if file.path.suffix.lower() != ".json":
        yield from read_rows(file.path, _KINETICS_COLUMNS, COMMA, names=(*_KINETICS_COLUMNS, "label", "split"))
        return
    for raw in json_members(file):
        fields = raw.value if isinstance(raw.value, Mapping) else {}
        annotations = fields.get("annotations")
        annotations = annotations if isinstance(annotations, Mapping) else {}
        segment = annotations.get("segment")
        if not isinstance(segment, list) or len(segment) != 2:
            problem = "has no annotations.segment of start and end"
            yield raw._replace(value=None, problem=problem, field="record")
            continue
        cells = dict(zip(_KINETICS_COLUMNS, (raw.key, *map(str, segment)), strict=True))
        yield raw._replace(value={**cells, "label": annotations.get("label"), "split": fields.get("subset")})


def _kinetics_video(file: File, raw: RawRecord) -> ItemRecord:
    fields, version = Fields(raw.value), _KINETICS_VERSION.search(file.path.stem)
    name = checked_id("youtube_id", fields.media_name("youtube_id"))
    start, end = (int(seconds_of(fields, column)) for column in ("time_start", "time_end"))
    clip = checked_id("youtube_id", f"{name}_{start:06d}_{end:06d}")
    return video_alone(
        video_of(file.dataset or "Kinetics" + (f"-{version[0]}" if version else ""), clip),
        split=named_split(fields.get("split")) or file.split,
        class_label=fields.label("label", MAX_ID),
        line=raw.line,
    )


def _moments_rows(file: File) -> Iterator[RawRecord]:
    for line, cells in split_rows(file.path, COMMA):
        if len(cells) < 2:
            yield RawRecord(None, None, line, "has no second cell, the class", "row")
        elif cells[1].strip() != "label":
            yield RawRecord(None, {"filename": cells[0].strip(), "label": cells[1].strip()}, line)


def _moments_video(file: File, raw: RawRecord) -> ItemRecord:
    fields = Fields(raw.value)
    video = video_of("Moments in Time", checked_id("filename", fields.media_name("filename")))
    label = checked_id("label", fields.label("label", MAX_ID)).replace("+", " ")
    return video_alone(video, split=file.split, class_label=label, line=raw.line)


def _ucf101_rows(file: File) -> Iterator[RawRecord]:
    yield from (RawRecord(None, {"video": line}, number) for number, line in lines(file.path))


def _ucf101_video(file: File, raw: RawRecord) -> ItemRecord:
    match = _UCF101_LINE.fullmatch(raw.value["video"] or "")
    if match is None:
        fix = "write CLASS/FILE.avi, and the number of the class in lists of the train split"
        raise ProblemError("video", f"{quoted(raw.value['video'])} is not a line of a list", fix)
    name = checked_id("video", Fields({"video": f"{match['class']}/{match['file']}"}).media_name("video"))
    label = " ".join(word.lower() for word in _UCF101_WORD.findall(match["class"])) or match["class"]
    video = replace(video_of("UCF101", name.rpartition("/")[2]), file=name)
    return video_alone(video, split=file.split, class_label=label, line=raw.line)


KINETICS = Format(_kinetics_rows, _kinetics_video, YIELDS="videos")
MOMENTS = Format(_moments_rows, _moments_video, YIELDS="videos")
UCF101 = Format(_ucf101_rows, _ucf101_video, YIELDS="videos")
