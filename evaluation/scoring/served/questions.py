"""Build the questions that a served model receives about a clip, and the scores that follow from its answers. Pure.

    p_yes   "Does this video show …?" for each text: P(yes) of yes and no, from log-probabilities; where the server
            gives none, from samples at temperature 1.
    pairs   two texts with the letters A and B, every two of the item, in both orders.
    choice  all texts of the item with letters, in as many orders as there are texts: each is once at each letter.

A text has a score only if every question about it was answered; of samples, if at least one was.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from evaluation.metrics.intervals import exact_binomial
from evaluation.scoring.served.specs import Mode
from foilworks.core.hub.errors import ClipError
from foilworks.core.hub.interfaces import ChatRequest
from foilworks.core.hub.served.prompts import CHOOSE, LETTERS, MATCHES, lettered
from foilworks.core.hub.served.readings import Outcome, Reading
from foilworks.core.text.model_answers import YES_NO

TOP_LOGPROBS = 20
SAMPLING_TEMPERATURE = 1.0


@dataclass(frozen=True)
class Asking:
    """How a run asks. `by_probability`: from log-probabilities; else p_yes takes `samples`, and a choice uses the named
    letter.
    """

    mode: Mode = Mode.P_YES
    by_probability: bool = True
    samples: int = 10
    max_tokens: int = 16
    as_video: bool = False

    @property
    def by_item(self) -> bool:
        """Report whether a score depends on the other texts of the item."""
        return self.mode != Mode.P_YES

    @property
    def samples_it(self) -> bool:
        return self.mode == Mode.P_YES and not self.by_probability


@dataclass(frozen=True)
class Question:
    """`texts` in the order shown. `number`: of the sample or the order, from 1."""

    texts: tuple[str, ...]
    options: tuple[str, ...]
    number: int
    request: ChatRequest

    @property
    def shown_options(self) -> tuple[str, ...]:
        """Return the texts that the letters name; none for a question of yes or no."""
        return self.texts if self.options != YES_NO else ()


@dataclass(frozen=True)
class Verdict:
    """The score of a text, or `outcome` and the first reason why it has none. `components`: the values it was
    computed from."""

    value: float | None
    outcome: Outcome = Outcome.ANSWERED
    why: str = ""
    components: Mapping[str, float] = field(default_factory=dict)


def questions(asking: Asking, texts: Sequence[str], images: tuple[bytes, ...]) -> list[Question]:
    """Build all questions about a clip. ClipError: more texts than a choice has letters."""
    if asking.mode == Mode.P_YES:
        runs = asking.samples if asking.samples_it else 1
        return [
            Question((text,), YES_NO, number, _request(asking, MATCHES.format(text), images, seed=number - 1))
            for text in texts
            for number in range(1, runs + 1)
        ]
    if len(texts) > len(LETTERS):
        raise ClipError(f"a choice takes at most {len(LETTERS)} texts, not {len(texts)}; ask by p_yes or pairs")
    return [
        Question(order, tuple(LETTERS[: len(order)]), number, _request(asking, _choice(order), images))
        for number, order in _orders(asking.mode, texts)
    ]


def _orders(mode: Mode, texts: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    groups = combinations(texts, 2) if mode == Mode.PAIRS and len(texts) > 1 else [tuple(texts)]
    for group in groups:
        for first in range(len(group)):
            yield first + 1, (*group[first:], *group[:first])


def _choice(texts: Sequence[str]) -> str:
    return CHOOSE.format(lettered(list(texts)))


def _request(asking: Asking, text: str, images: tuple[bytes, ...], seed: int = 0) -> ChatRequest:
    return ChatRequest(
        (("user", text),),
        max_tokens=asking.max_tokens,
        temperature=SAMPLING_TEMPERATURE if asking.samples_it else 0.0,
        seed=seed,
        images=images,
        as_video=asking.as_video and bool(images),
        top_logprobs=TOP_LOGPROBS if asking.by_probability else 0,
    )


def verdicts(asking: Asking, texts: Sequence[str], answered: Sequence[tuple[Question, Reading]]) -> list[Verdict]:
    """Compute one verdict per text, from the readings of all questions about the clip."""
    answered_by_text: dict[str, list[tuple[Question, Reading]]] = {text: [] for text in texts}
    for question, reading in answered:
        for text in question.texts:
            answered_by_text[text].append((question, reading))
    return [_verdict(asking, text, answered_by_text[text]) for text in texts]


def _verdict(asking: Asking, text: str, answered: Sequence[tuple[Question, Reading]]) -> Verdict:
    without = [reading for _, reading in answered if reading.outcome != Outcome.ANSWERED]
    if asking.samples_it and len(without) < len(answered) and not _failed(without):
        return _sampled([reading for _, reading in answered if reading.outcome == Outcome.ANSWERED], len(answered))
    if without:
        # A failure comes first, because that question can be repeated.
        first = min(without, key=lambda reading: reading.outcome != Outcome.FAILED)
        return Verdict(None, first.outcome, first.why)
    shares = [reading.shares[question.texts.index(text)] for question, reading in answered]
    components = {"orders": float(len(shares))} if asking.by_item else {"mass": answered[0][1].mass}
    return Verdict(sum(shares) / len(shares), components=components)


def _failed(readings: Sequence[Reading]) -> bool:
    return any(reading.outcome == Outcome.FAILED for reading in readings)


def _sampled(readings: Sequence[Reading], n_asked: int) -> Verdict:
    hits, n = sum(round(reading.shares[0]) for reading in readings), len(readings)
    low, high = exact_binomial(hits, n)
    return Verdict(hits / n, components={"yes": hits, "n": n, "asked": n_asked, "low": low, "high": high})
