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
from typing import Any

from evaluation.scoring.served.specs import Mode
from foilworks.core.hub.catalogue.thinking import MIN_MASS
from foilworks.core.hub.errors import ClipError
from foilworks.core.hub.interfaces import ChatRequest
from foilworks.core.hub.served.prompts import CHOOSE, LETTERS, MATCHES, lettered
from foilworks.core.hub.served.readings import Reading, Verdict, verdict_of
from foilworks.core.text.model_answers import YES_NO

TOP_LOGPROBS = 20


@dataclass(frozen=True)
class Asking:
    """How a run asks. `by_probability`: from log-probabilities, of which the options have at least `min_mass`;
    otherwise the words of `samples` answers are read.

    `fields`: further fields of each request. `may_think`: an answer with a thought is readable.
    """

    mode: Mode = Mode.P_YES
    by_probability: bool = True
    samples: int = 10
    max_tokens: int = 16
    as_video: bool = False
    temperature: float = 0.0
    min_mass: float = MIN_MASS
    fields: Mapping[str, Any] = field(default_factory=dict)
    may_think: bool = True

    @property
    def by_item(self) -> bool:
        """Report whether a score depends on the other texts of the item."""
        return self.mode != Mode.P_YES

    @property
    def samples_it(self) -> bool:
        return self.samples > 1 and not self.by_probability


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
class Shown:
    """What is sent with each question about a clip: `images`, and `sound` as a WAV file.

    `before`: a text before the question; `asks`: the question of yes or no, "" for the usual one.
    """

    images: tuple[bytes, ...] = ()
    sound: bytes = b""
    before: str = ""
    asks: str = ""


def questions(asking: Asking, texts: Sequence[str], shown: Shown) -> list[Question]:
    """Build all questions about a clip. ClipError: more texts than a choice has letters."""
    runs = asking.samples if asking.samples_it else 1
    if asking.mode == Mode.P_YES:
        asks = shown.asks or MATCHES
        return [
            Question((text,), YES_NO, number, _request(asking, asks.replace("{}", text), shown, seed=number - 1))
            for text in texts
            for number in range(1, runs + 1)
        ]
    if len(texts) > len(LETTERS):
        raise ClipError(f"a choice takes at most {len(LETTERS)} texts, not {len(texts)}; ask by p_yes or pairs")
    return [
        Question(
            order,
            tuple(LETTERS[: len(order)]),
            (number - 1) * runs + seed + 1,
            _request(asking, _choice(order), shown, seed),
        )
        for number, order in _orders(asking.mode, texts)
        for seed in range(runs)
    ]


def _orders(mode: Mode, texts: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    groups = combinations(texts, 2) if mode == Mode.PAIRS and len(texts) > 1 else [tuple(texts)]
    for group in groups:
        for first in range(len(group)):
            yield first + 1, (*group[first:], *group[:first])


def _choice(texts: Sequence[str]) -> str:
    return CHOOSE.format(lettered(list(texts)))


def _request(asking: Asking, text: str, shown: Shown, seed: int = 0) -> ChatRequest:
    return ChatRequest(
        (("user", f"{shown.before}{text}"),),
        max_tokens=asking.max_tokens,
        temperature=asking.temperature,
        seed=seed,
        images=shown.images,
        as_video=asking.as_video and bool(shown.images),
        top_logprobs=TOP_LOGPROBS if asking.by_probability else 0,
        fields=asking.fields,
        sound=shown.sound,
    )


def verdicts(asking: Asking, texts: Sequence[str], answered: Sequence[tuple[Question, Reading]]) -> list[Verdict]:
    """Compute one verdict per text, from the readings of all questions about the clip."""
    readings_by_text: dict[str, list[tuple[int, Reading]]] = {text: [] for text in texts}
    for question, reading in answered:
        for index, text in enumerate(question.texts):
            readings_by_text[text].append((index, reading))
    return [verdict_of(readings_by_text[text], sampled=asking.samples_it) for text in texts]
