"""Estimate what a run will ask of an instruction model, from the answers to a few of its captions.

Tokens are those that the server counts, so no tokenizer of ours has to be like the model's. The run finds the answers
of the sample stored, and does not pay for them again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foilworks.core.hub.interfaces import ChatReply, ModelInfo
from foilworks.core.projects.models import Project
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import load, lookup, parse_params
from generation.errors import GenerationError
from generation.instruction_models import endpoints
from generation.instruction_models.answer_rows import RowAnswers
from generation.instruction_models.cached_answers import Answers
from generation.instruction_models.services import services
from generation.methods.registry import METHODS
from generation.models import GenerationRun
from generation.records import CaptionInput, Skip
from generation.run_captions import RunCaptions
from generation.run_request import FoilRequest

# Captions that are asked about, from the shortest to the longest.
SAMPLE = 20


@dataclass(frozen=True)
class Estimate:
    """What a run will spend. `sent`: the captions that have something of the asked kind; `sampled`: those measured.

    `cost` is in `currency`, None without a price.
    """

    captions: int
    sent: int
    sampled: int
    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None
    currency: str = ""


@dataclass
class CountedAnswers:
    """A store that counts the replies and their tokens, new and stored ones alike."""

    answers: Answers
    replies: list[ChatReply] = field(default_factory=list)

    def find(self, keys: Sequence[str]) -> Mapping[str, ChatReply]:
        stored = self.answers.find(keys)
        self.replies += stored.values()
        return stored

    def keep(self, replies: Mapping[str, ChatReply], info: ModelInfo) -> None:
        self.replies += replies.values()
        self.answers.keep(replies, info)


def estimate_run(project: Project, request: FoilRequest) -> Estimate:
    """Ask about up to `SAMPLE` captions of the run, and return what all of them will take.

    GenerationError: the method uses no instruction model, or no caption of the sample got an answer. HubError: the
    model cannot answer.
    """
    entry = lookup(METHODS, request.method, "method")
    module, params = load(entry), parse_params(entry, request.params)
    if not getattr(module, "USES_LLM", False):
        raise GenerationError(f"{quoted(request.method)} uses no instruction model, so there is no cost to estimate")
    counted = CountedAnswers(RowAnswers(None, int))
    opened = services(module, params, counted, project=project)
    captions = RunCaptions(GenerationRun(project=project, selection=request.selection or {}))
    sent = [caption for caption in captions if not module.unfit(caption, opened["prompt"])]
    sample = spread(sent)
    outcomes = list(module.make(sample, params=params, mode=request.mode, seed=request.seed, **opened))
    failures = [outcome.why for outcome in outcomes if isinstance(outcome, Skip) and outcome.unanswered]
    if sample and len(failures) == len(sample):
        raise GenerationError(
            f"no caption of the sample got an answer ({failures[0]}); check the model, then try again"
        )
    scale = len(sent) / max(1, len(sample) - len(failures))
    answered = [reply for reply in counted.replies if not reply.failure]
    requests = round(scale * len(answered))
    into, out = (
        round(scale * sum(getattr(reply, name) for reply in answered))
        for name in ("prompt_tokens", "completion_tokens")
    )
    estimate = Estimate(len(captions), len(sent), len(sample), requests, into, out)
    return _priced(estimate, params)


def _priced(estimate: Estimate, params: Mapping[str, Any]) -> Estimate:
    if not params["endpoint"]:
        return estimate
    endpoint = endpoints.find_endpoint(params["endpoint"])
    cost = endpoint.cost(estimate.prompt_tokens, estimate.completion_tokens)
    return Estimate(**{**vars(estimate), "cost": cost, "currency": endpoint.currency})


def spread(captions: Iterable[CaptionInput], n: int = SAMPLE) -> list[CaptionInput]:
    """Return n captions spread evenly over the lengths, in the order of the captions; all if there are fewer."""
    ordered = list(captions)
    if len(ordered) <= n:
        return ordered
    by_length = sorted(range(len(ordered)), key=lambda at: len(ordered[at].text))
    return [ordered[at] for at in sorted(by_length[int((bin_ + 0.5) * len(ordered) / n)] for bin_ in range(n))]
