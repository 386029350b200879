"""Published benchmarks of questions with options, and of captions with contrast captions.

`seed-bench`: `SEED-Bench.json`: `{"questions": […], "question_type": {NAME: NUMBER}}`, pictures and videos. The name of
the question's type is the subtest. Segments of type 11 are seconds, those of type 12 frames. A picture is a clip
without a video file. Questions about several pictures (SEED-Bench-2) are bad records: they are about no one clip.

`tempcompass`: one file per task, `{VIDEO: {ASPECT: [{"question", "answer"}]}}`. `multi-choice` lists options below the
question; `caption_matching` lists two captions, which are the item's texts; `yes_no` has the options yes and no.
`captioning` asks for a new text, so it is refused. Subtests are `TASK-ASPECT`, the aspect is the test, and items are
numbered within their video from 0, since the files have no ids.

`timeblind`: `data.jsonl`: `{"index", "video_path", "question", "answer", "type"}` per line. Four in a row are a set:
two questions about two clips, each with the other answer on the other clip. Options are yes and no, or A and B, whose
texts are in the question.

`videocon`: `videopath, caption, neg_caption` with the kind of misalignment as the subtest; `video_url, caption,
neg_caption, hard` of the human captions, whose hard rows are the subtest `human-hard`; or `vid_id, question, answer, s0
… s4` of ATP-Hard, where `answer` is the number of the true statement. The explanation `nle` is a fact. Further rows of
a video get `#2`, `#3`.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError, check_sentence
from foilworks.core.corpus.import_formats.parsing.formats import File, Format
from foilworks.core.corpus.import_formats.parsing.json_records import members, members_of, read_text
from foilworks.core.corpus.import_formats.parsing.questions import (
    Question,
    answer_index,
    clip_of,
    item_of,
    required_label,
)
from foilworks.core.corpus.import_formats.parsing.records import (
    RawRecord,
    checked_id,
    json_lines,
    picture_of,
    stem_of,
)
from foilworks.core.corpus.import_formats.parsing.table_rows import COMMA, first_row, read_rows
from foilworks.core.corpus.records import MAX_DATASET, MAX_ID, MAX_LABEL, MAX_URL, SPLITS, ItemRecord, VideoRecord
from foilworks.core.text.quoting import quoted

_SEED_OPTIONS = ("choice_a", "choice_b", "choice_c", "choice_d")
_SEED_FIELDS = frozenset(
    {"answer", "data_id", "data_type", "question", "question_id", "question_type_id", "segment", *_SEED_OPTIONS}
)
_SEED_DATASETS = {"10": "Something-Something V2", "11": "EPIC-KITCHENS-100", "12": "Breakfast"}
_SEED_IN_FRAMES = "12"
_YES_NO = ("yes", "no")
_TIMEBLIND_OPTIONS = {"yes_no": _YES_NO, "multiple_choice": ("A", "B")}
_TEMPCOMPASS_OPTION = re.compile(r"\s*((?:(?:Option|Sentence|Caption) )?[A-Z0-9])[.:]\s*(?=\S)")
_ASKS_FOR_TEXT = "Generated Caption:"
_STATEMENTS = ("s0", "s1", "s2", "s3", "s4")
_OF_PAIRS = frozenset(
    {"source", "videopath", "video_url", "caption", "neg_caption", "split", "misalignment", "nle", "hard"}
)
_OF_STATEMENTS = frozenset({"vid_id", "question", "answer", *_STATEMENTS})
_VIDEOCON_NAMES = ("videopath", "video_url", "source", "split", "misalignment", "hard", "vid_id", "answer")


def _seed_questions(file: File) -> Iterator[RawRecord]:
    """Yield the questions, or those about one kind of media."""
    text, media_kind = read_text(file.path), str(file.params.get("part") or "all")
    types = next((member.value for member in members(file.path, text) if member.key == "question_type"), None)
    if not isinstance(types, dict):
        raise CorpusError(f"{file.path}:1: question_type: is missing; give the whole published file")
    file.facts["types"] = {str(number): name for name, number in types.items()}
    for member in members_of(file.path, text, "questions"):
        value = member.value
        if media_kind == "all" or not isinstance(value, dict) or media_kind in str(value.get("data_type")).lower():
            yield RawRecord(None, value, member.line)


def _seed_item(file: File, raw: RawRecord) -> ItemRecord:
    fields, types = Fields(raw.value), file.facts["types"]
    number = required_label(fields, "question_type_id", MAX_LABEL)
    if number not in types:
        raise ProblemError("question_type_id", f"{quoted(number)} is not in question_type", "add it there")
    options = [fields.sentence(name) for name in _SEED_OPTIONS]
    right = answer_index(options, fields.get("answer"))
    return item_of(
        Question(fields.sentence("question"), options, right, types[number]),
        item_id=checked_id("question_id", required_label(fields, "question_id")),
        subtest=types[number],
        video=_seed_clip(fields, number),
        extra=fields.without(_SEED_FIELDS),
        line=raw.line,
    )


def _seed_clip(fields: Fields, number: str) -> VideoRecord:
    if isinstance(fields.get("data_id"), list):
        raise ProblemError("data_id", "is a list: the question is about several pictures", "leave the question out")
    name, segment = required_label(fields, "data_id"), fields.get("segment")
    if "image" in fields.label("data_type", MAX_LABEL).lower():
        return picture_of("CC3M", name)
    start, end = _seed_trim(segment) if segment is not None else (None, None)
    dataset = _SEED_DATASETS.get(number, "SEED-Bench")
    unit = "frames" if number == _SEED_IN_FRAMES and segment is not None else "sec"
    return clip_of(dataset, stem_of(name), file=fields.media_name("data_id"), start=start, end=end, unit=unit)


def _seed_trim(segment: Any) -> tuple[float, float]:
    is_pair = isinstance(segment, list) and len(segment) == 2
    if not is_pair or any(isinstance(edge, bool) or not isinstance(edge, int | float) for edge in segment):
        raise ProblemError("segment", "is not a start and an end", "give [start, end]")
    start, end = segment
    if not 0 <= start < end:
        raise ProblemError("segment", f"is [{start:g}, {end:g}]", "give an end after the start")
    return float(start), float(end)


def _tempcompass_questions(file: File) -> Iterator[RawRecord]:
    """Yield the questions; a key has the video, the aspect and the number within it.

    CorpusError: the task asks for a new text.
    """
    for video, aspects, line in members(file.path, read_text(file.path)):
        question_lists = aspects if isinstance(aspects, dict) else {}
        if video is None or not question_lists or not all(isinstance(rows, list) for rows in question_lists.values()):
            problem = "is not an object with a list of questions per aspect"
            yield RawRecord(video, None, line, problem, "record")
            continue
        for aspect, questions in question_lists.items():
            for number, question in enumerate(questions):
                if isinstance(question, dict) and str(question.get("question")).rstrip().endswith(_ASKS_FOR_TEXT):
                    problem = "asks for a new text, which is no choice; import multi-choice, yes_no or caption_matching"
                    raise CorpusError(f"{file.path}:{line}: question: {problem}")
                yield RawRecord("\0".join((video, aspect, str(number))), question, line)


def _tempcompass_item(file: File, raw: RawRecord) -> ItemRecord:
    video, aspect, number = (raw.key or "").rsplit("\0", 2)
    fields = Fields(raw.value, f"{video}.{aspect}[{number}]")
    question_text, answer = fields.sentence("question"), fields.sentence("answer")
    if len(video) > MAX_ID or not video.strip() or "\0" in video:
        raise ProblemError("video", f"{quoted(video)} is not a name", "give the name of the video")
    subtest = f"{file.subtest}-{aspect}"[:MAX_LABEL]
    return item_of(
        _tempcompass_question(fields, question_text, answer.strip(), aspect),
        item_id=checked_id("id", f"{subtest}:{video}:{number}"),
        subtest=subtest,
        test=aspect[:MAX_LABEL],
        video=clip_of("TempCompass", video, file=f"{video}.mp4"),
        extra=fields.without(frozenset({"question", "answer", "prediction"})),
        line=raw.line,
    )


def _tempcompass_question(fields: Fields, question_text: str, answer: str, aspect: str) -> Question:
    first, *lines = question_text.split("\n")
    if not lines:
        if answer.lower() not in _YES_NO:
            raise ProblemError(fields.name("answer"), f"is {quoted(fields.get('answer'))}", "give yes or no")
        return Question(question_text, _YES_NO, _YES_NO.index(answer.lower()), aspect)
    labelled_lines = [(line, _TEMPCOMPASS_OPTION.match(line)) for line in lines]
    for line, label in labelled_lines:
        if label is None:
            problem = f"{quoted(line)} has no label"
            raise ProblemError(fields.name("question"), problem, "start each option with A., B. …")
    options = [check_sentence(fields.name("question"), line[label.end() :]) for line, label in labelled_lines if label]
    lines = [line.strip() for line in lines]
    if answer not in lines:
        problem = f"{quoted(fields.get('answer'))} is not among the options"
        raise ProblemError(fields.name("answer"), problem, "give one of them")
    captions = all(" " in label[1] for _line, label in labelled_lines if label)
    return Question(first, options, lines.index(answer), aspect, is_caption=captions)


def _videocon_rows(file: File) -> Iterator[RawRecord]:
    is_of_statements = "vid_id" in first_row(file.path, COMMA).names
    required = ["vid_id", "question", "answer", *_STATEMENTS] if is_of_statements else ["caption", "neg_caption"]
    one_of = () if is_of_statements else ("videopath", "video_url")
    yield from read_rows(file.path, required, COMMA, one_of=one_of, names=_VIDEOCON_NAMES)


def _videocon_item(file: File, raw: RawRecord) -> ItemRecord:
    fields = Fields(raw.value)
    if "vid_id" in raw.value:
        return _of_statements(file, fields, raw.line)
    texts = fields.sentence("caption"), fields.sentence("neg_caption")
    video, kind = _videocon_clip(fields), fields.label("misalignment", MAX_LABEL)
    if fields.get("hard") is not None:
        kind = "human-hard" if fields.label("hard", MAX_LABEL).lower() in {"true", "1"} else "human"
    subtest = file.subtest if file.params.get("subtest") else kind or file.subtest
    explanation = fields.get("nle")
    return ItemRecord(
        id=checked_id("video", file.names.name(f"{subtest}:{video.source_id}", texts)),
        subtest=subtest,
        video=video,
        caption=texts[0],
        foils=texts[1:],
        facts={"nle": explanation} if explanation else {},
        extra=fields.without(_OF_PAIRS),
        line=raw.line,
    )


def _videocon_clip(fields: Fields) -> VideoRecord:
    split, dataset = fields.label("split", MAX_LABEL), fields.label("source", MAX_DATASET)
    if split not in SPLITS:
        raise ProblemError("split", f"is {quoted(split)}", "give train, val or test")
    url = fields.url("video_url")
    name = fields.label("videopath", MAX_URL) or url
    if not name:
        raise ProblemError("videopath", "is missing", "name the video")
    # A path of the publisher's own disk, or an address: its last part names the file.
    file = PurePosixPath(name).name if url or name.startswith("/") else fields.media_name("videopath")
    return clip_of(dataset or "ActivityNet", stem_of(file), file=file, url=url, split=split)


def _of_statements(file: File, fields: Fields, line: int) -> ItemRecord:
    video, question = required_label(fields, "vid_id"), fields.sentence("question")
    options = [fields.sentence(name) for name in _STATEMENTS]
    return item_of(
        Question(question, options, answer_index(options, fields.get("answer")), is_caption=True),
        item_id=checked_id("vid_id", file.names.name(f"{file.subtest}:{video}", (question, *options))),
        subtest=file.subtest,
        video=clip_of("NExT-QA", video),
        extra=fields.without(_OF_STATEMENTS),
        line=line,
    )


def _timeblind_item(file: File, raw: RawRecord) -> ItemRecord:
    fields = Fields(raw.value)
    number, kind = required_label(fields, "index"), fields.label("type", MAX_LABEL)
    if kind not in _TIMEBLIND_OPTIONS:
        raise ProblemError("type", f"is {quoted(kind)}", f"give one of: {', '.join(_TIMEBLIND_OPTIONS)}")
    options, answer = _TIMEBLIND_OPTIONS[kind], fields.sentence("answer").strip(" .").lower()
    lowered = [option.lower() for option in options]
    if answer not in lowered:
        raise ProblemError("answer", f"is {quoted(answer)}", f"give one of: {', '.join(options)}")
    path = required_label(fields, "video_path", MAX_URL)
    return item_of(
        Question(fields.sentence("question"), options, lowered.index(answer), kind),
        item_id=checked_id("index", f"{file.subtest}:{number}"),
        subtest=file.subtest,
        video=clip_of("TimeBlind", stem_of(path), file=fields.media_name("video_path")),
        extra=fields.without(frozenset({"question", "answer"})),
        line=raw.line,
    )


SEED_BENCH = Format(_seed_questions, _seed_item)
TEMPCOMPASS = Format(_tempcompass_questions, _tempcompass_item)
TIMEBLIND = Format(lambda file: json_lines(file.path), _timeblind_item)
VIDEOCON = Format(_videocon_rows, _videocon_item, own_ids=False)
