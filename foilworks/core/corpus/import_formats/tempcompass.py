"""`tempcompass`: the files of TempCompass, one per task: `{VIDEO: {ASPECT: [{"question", "answer"}]}}`.

`multi-choice` lists options below the question; `caption_matching` lists two captions, which are the item's texts;
`yes_no` has the options yes and no. `captioning` asks for a new text, so it is refused. Subtests are `TASK-ASPECT`, the
aspect is the test, and items are numbered within their video from 0, since the files have no ids.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.fields import Fields, ProblemError, check_sentence
from foilworks.core.corpus.import_formats.parsing.json_records import members, read_text
from foilworks.core.corpus.import_formats.parsing.questions import Question, clip_of, item_of
from foilworks.core.corpus.import_formats.parsing.records import RawRecord, checked_id, default_subtest, read_records
from foilworks.core.corpus.records import MAX_ID, MAX_LABEL, ItemRecord, ReadOutcome
from foilworks.core.text.quoting import quoted

DATASET = "TempCompass"
_YES_NO = ("yes", "no")
_OPTION = re.compile(r"\s*((?:(?:Option|Sentence|Caption) )?[A-Z0-9])[.:]\s*(?=\S)")
_ASKS_FOR_TEXT = "Generated Caption:"
_FIELDS = frozenset({"question", "answer", "prediction"})


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[ReadOutcome]:
    """The questions of a task. CorpusError: not whole JSON, or the task asks for a new text."""
    task, text = default_subtest(path, params), read_text(path)
    yield from read_records(path, _raw(path, text), lambda raw: _parse(raw, task))


def _raw(path: Path, text: str) -> Iterator[RawRecord]:
    """The questions; a key has the video, the aspect and the number within it."""
    for video, aspects, line in members(path, text):
        question_lists = (
            [(aspect, questions) for aspect, questions in aspects.items()] if isinstance(aspects, dict) else []
        )
        if (
            video is None
            or not question_lists
            or not all(isinstance(questions, list) for _, questions in question_lists)
        ):
            problem = "is not an object with a list of questions per aspect"
            yield RawRecord(video, None, line, problem, "record")
            continue
        for aspect, questions in question_lists:
            for number, question in enumerate(questions):
                if isinstance(question, dict) and str(question.get("question")).rstrip().endswith(_ASKS_FOR_TEXT):
                    problem = "asks for a new text, which is no choice; import multi-choice, yes_no or caption_matching"
                    raise CorpusError(f"{path}:{line}: question: {problem}")
                yield RawRecord("\0".join((video, aspect, str(number))), question, line)


def _parse(raw: RawRecord, task: str) -> ItemRecord:
    video, aspect, number = (raw.key or "").split("\0")
    fields = Fields(raw.value, f"{video}.{aspect}[{number}]")
    question_text, answer = fields.sentence("question"), fields.sentence("answer")
    if len(video) > MAX_ID or not video.strip():
        raise ProblemError("video", f"{quoted(video)} is not a name", "give the name of the video")
    subtest = f"{task}-{aspect}"[:MAX_LABEL]
    return item_of(
        _question(fields, question_text, answer, aspect),
        item_id=checked_id("id", f"{subtest}:{video}:{number}"),
        subtest=subtest,
        test=aspect[:MAX_LABEL],
        video=clip_of(DATASET, video, file=f"{video}.mp4"),
        extra=fields.without(_FIELDS),
        line=raw.line,
    )


def _question(fields: Fields, question_text: str, answer: str, aspect: str) -> Question:
    first, *lines = question_text.split("\n")
    if not lines:
        if answer.strip().lower() not in _YES_NO:
            raise ProblemError(fields.name("answer"), f"is {quoted(answer)}", "give yes or no")
        return Question(question_text, _YES_NO, _YES_NO.index(answer.strip().lower()), aspect)
    labelled_lines = [(line, _OPTION.match(line)) for line in lines]
    for line, label in labelled_lines:
        if label is None:
            problem = f"{quoted(line)} has no label"
            raise ProblemError(fields.name("question"), problem, "start each option with A., B. …")
    options = [check_sentence(fields.name("question"), line[label.end() :]) for line, label in labelled_lines if label]
    lines = [line.strip() for line in lines]
    if answer.strip() not in lines:
        raise ProblemError(fields.name("answer"), f"{quoted(answer)} is not among the options", "give one of them")
    captions = all(" " in label[1] for _line, label in labelled_lines if label)
    return Question(first, options, lines.index(answer.strip()), aspect, is_caption=captions)
