"""Shapes of the logs of lmms-eval, Inspect and Every Eval Ever, as far as they are read, and of an answer in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foilworks.core.text.shape import Shape


@dataclass(frozen=True)
class LoggedAnswer:
    """The answer to one question. `options`: their texts in order; `right`: the place of the right one, None if the log
    has no options. `likelihoods`: of the options, higher is better. `is_right`: what the log says of the answer. `ids`:
    other names of the question; `place`: its place in the data set, from 0; `target`: the right answer as written.
    `facts`: other fields of the question or its result; `video`: the name of its video.
    """

    where: str
    id: str
    question: str
    options: Sequence[str]
    right: int | None
    text: str = ""
    finish_reason: str = ""
    likelihoods: Sequence[float] = ()
    is_right: bool | None = None
    ids: Sequence[str] = ()
    place: int | None = None
    target: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    video: str = ""

    @property
    def has_right(self) -> bool:
        """Report whether the log names the right one of its options."""
        return self.right is not None and bool(self.options or self.likelihoods)


class LmmsSample(Shape):
    """A line of a samples file of lmms-eval. `filtered_resps`: texts, or likelihoods of the options. `doc_id`: the
    place in the data set. `item` of our exports; other tasks have ids in `doc` or in the values of metrics."""

    filtered_resps: Any
    target: str | int | list[Any] | None = ""
    doc_id: int | None = None
    item: str | int | None = None
    input: Any = ""
    doc: dict[str, Any] | None = None

    def named_fields(self) -> list[dict[str, Any]]:
        """Return the objects of the record that can name its question."""
        values = [self.doc or {}, *(self.model_extra or {}).values()]
        return [value for value in values if isinstance(value, dict)]


class LmmsResults(Shape):
    """The results file of a run of lmms-eval."""

    lmms_eval_version: str | None = None
    config: dict[str, Any] = {}


class InspectRun(Shape):
    """What ran, in the header of a log of Inspect 0.3."""

    packages: dict[str, str] = {}
    model: str | None = None
    task: str | None = None
    metadata: dict[str, Any] | None = None


class InspectHeader(Shape):
    """`header.json` of a log of Inspect; a log in JSON has the samples in it, too."""

    status: str
    eval: InspectRun
    samples: list[Any] | None = None


class Choice(Shape):
    """One answer of the model."""

    stop_reason: str | None = None


class Output(Shape):
    """Answers of the model, and the text of the first one."""

    choices: list[Choice] | None = None
    completion: str | None = None


class Block(Shape):
    """A part of a message."""

    text: str | None = None


class Message(Shape):
    """A message of the conversation."""

    role: str
    content: str | list[Block] | None = None


class InspectSample(Shape):
    """A sample of a log of Inspect."""

    id: str | int
    target: str | list[str]
    choices: list[str] | None = None
    output: Output
    scores: dict[str, Any] | None = None
    messages: list[Message] = []


class SampleInput(Shape):
    """The question of a sample of Every Eval Ever. `reference`: right answers; a text in versions before 0.3."""

    raw: str
    reference: str | list[str]
    choices: list[str] | None = None


class SampleOutput(Shape):
    """Responses of the model; a text in versions before 0.3."""

    raw: str | list[str]


class Turn(Shape):
    """A message of a sample with several turns."""

    role: str
    content: str | None = None


class Judgement(Shape):
    """What the harness says of an answer."""

    score: float
    is_correct: bool


class Sample(Shape):
    """A line of a samples file of Every Eval Ever 0.2 or 0.3. `metadata` of our exports has `scores` of the choices."""

    evaluation_id: str
    model_id: str
    sample_id: str | int
    input: SampleInput
    evaluation: Judgement
    output: SampleOutput | None = None
    messages: list[Turn] | None = None
    metadata: dict[str, Any] | None = None


class Library(Shape):
    """What ran the evaluation."""

    name: str
    version: str


class SamplesFile(Shape):
    """Where an aggregate has its samples."""

    file_path: str


class Aggregate(Shape):
    """The aggregate record of Every Eval Ever beside a samples file."""

    eval_library: Library
    detailed_evaluation_results: SamplesFile | None = None
