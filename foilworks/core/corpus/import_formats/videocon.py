"""`videocon`: the CSV files of VideoCon: a caption and a contrast caption per row, or ATP-Hard's five statements.

`videopath, caption, neg_caption` with the kind of misalignment as the subtest; `video_url, caption, neg_caption, hard`
of the human captions, whose hard rows are the subtest `human-hard`; or `vid_id, question, answer, s0 … s4`, where
`answer` is the number of the true statement. The explanation `nle` is a fact. Further rows of a video get `#2`, `#3`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError
from foilworks.core.corpus.import_formats.parsing.questions import (
    Question,
    answer_index,
    clip_of,
    item_of,
    required_label,
)
from foilworks.core.corpus.import_formats.parsing.records import (
    Names,
    RawRecord,
    checked_id,
    default_subtest,
    read_records,
    stem_of,
)
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, first_row, read_rows
from foilworks.core.corpus.records import MAX_DATASET, MAX_LABEL, MAX_URL, SPLITS, ItemRecord, ReadOutcome, VideoRecord
from foilworks.core.text.quoting import quoted

_STATEMENTS = ("s0", "s1", "s2", "s3", "s4")
_OF_PAIRS = frozenset(
    {"source", "videopath", "video_url", "caption", "neg_caption", "split", "misalignment", "nle", "hard"}
)
_OF_STATEMENTS = frozenset({"vid_id", "question", "answer", *_STATEMENTS})
_OF_HUMAN = "ActivityNet"
_TRUE = frozenset({"true", "1"})
_NAMES = ("videopath", "video_url", "source", "split", "misalignment", "hard", "vid_id", "answer")


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The rows of a VideoCon file. CorpusError when the file as a whole cannot be read."""
    subtest, names = default_subtest(path, params), Names()
    has_subtest = bool(params.get("subtest"))
    if "vid_id" in first_row(path, COMMA).names:
        raw = read_rows(path, ["vid_id", "question", "answer", *_STATEMENTS], COMMA, names=_NAMES)
        yield from read_records(path, raw, lambda record: _statements(record, subtest, names), own_ids=False)
        return
    raw = read_rows(path, ["caption", "neg_caption"], COMMA, one_of=("videopath", "video_url"), names=_NAMES)
    yield from read_records(path, raw, lambda record: _pair(record, subtest, has_subtest, names), own_ids=False)


def _pair(raw: RawRecord, subtest: str, has_subtest: bool, names: Names) -> ItemRecord:
    fields = Fields(raw.value)
    texts = fields.sentence("caption"), fields.sentence("neg_caption")
    video, kind = _clip(fields), fields.label("misalignment", MAX_LABEL)
    if fields.get("hard") is not None:
        kind = "human-hard" if fields.label("hard", MAX_LABEL).lower() in _TRUE else "human"
    subtest = subtest if has_subtest else kind or subtest
    explanation = fields.get("nle")
    return ItemRecord(
        id=checked_id("video", names.name(f"{subtest}:{video.source_id}", texts)),
        subtest=subtest,
        video=video,
        caption=texts[0],
        foils=texts[1:],
        facts={"nle": explanation} if explanation else {},
        extra=fields.without(_OF_PAIRS),
        line=raw.line,
    )


def _clip(fields: Fields) -> VideoRecord:
    split, dataset = fields.label("split", MAX_LABEL), fields.label("source", MAX_DATASET)
    if split not in SPLITS:
        raise ProblemError("split", f"is {quoted(split)}", "give train, val or test")
    url = fields.url("video_url")
    name = fields.label("videopath", MAX_URL) or url
    if not name:
        raise ProblemError("videopath", "is missing", "name the video")
    # A path of the publisher's own disk, or an address: its last part names the file.
    file = PurePosixPath(name).name if url or name.startswith("/") else fields.media_name("videopath")
    return clip_of(dataset or _OF_HUMAN, stem_of(file), file=file, url=url, split=split)


def _statements(raw: RawRecord, subtest: str, names: Names) -> ItemRecord:
    fields = Fields(raw.value)
    video, question = required_label(fields, "vid_id"), fields.sentence("question")
    options = [fields.sentence(name) for name in _STATEMENTS]
    return item_of(
        Question(question, options, answer_index(options, fields.get("answer")), is_caption=True),
        item_id=checked_id("vid_id", names.name(f"{subtest}:{video}", (question, *options))),
        subtest=subtest,
        video=clip_of("NExT-QA", video),
        extra=fields.without(_OF_STATEMENTS),
        line=raw.line,
    )
