"""Shapes of the logs of lmms-eval and Inspect, as far as they are read."""

from typing import Any

from foilworks.core.text.shape import Shape


class LmmsSample(Shape):
    """A line of a samples file of lmms-eval 0.7. `filtered_resps`: texts, or likelihoods of the options."""

    item: str | int
    filtered_resps: Any
    target: str | int
    input: str | None = ""


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
    """`header.json` of a log of Inspect."""

    status: str
    eval: InspectRun


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
    choices: list[str]
    output: Output
    scores: dict[str, Any] | None = None
    messages: list[Message] = []
