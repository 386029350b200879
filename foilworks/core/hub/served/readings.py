"""Read replies of endpoints: yes or no, or a letter, by the words or by the probabilities of the tokens. Pure.

`foilworks.core.text.model_answers` reads the words. An answer that names no option is unparsable. A model that
declines has refused. Neither counts as wrong or as half right: both are counted separately.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from foilworks.core.hub.catalogue.thinking import MIN_MASS
from foilworks.core.hub.interfaces import ChatReply
from foilworks.core.text.model_answers import (
    CUT_OFF,
    EMPTY,
    NO_OPTION,
    REFUSED,
    SEVERAL_OPTIONS,
    VERSION,
    YES_NO,
    read_answer,
    without_thoughts,
)

# Part of every score's revision, as a change of the rules changes scores.
READINGS = VERSION
MASS_IS_SMALL = "the options have {mass:.1%} of the first token's probability, less than {least:.0%}"
# Marks that tokenizers put at the beginning of a word, and characters around a word.
AROUND = " \t\r\n\u2581\u0120\u010a*_`\"'“”‘’().,:;!?[]"
EMPTY_ANSWER = "empty answer"
SENTENCES = {
    EMPTY: "the answer is empty",
    CUT_OFF: "it ends before the answer",
    REFUSED: "the model declines",
    NO_OPTION: "it names none of the options",
    SEVERAL_OPTIONS: "it names several options",
}


class Outcome(StrEnum):
    """How a question ended."""

    ANSWERED = "answered"
    REFUSED = "refused"
    UNPARSABLE = "unparsable"
    # No answer: a server error, a spent budget. The question is repeated when the run continues.
    FAILED = "failed"


@dataclass(frozen=True)
class Reading:
    """What was read. `shares`: the probability of each option among all of them; empty unless answered. `mass`: of all
    options among everything that the model might have said."""

    outcome: Outcome
    shares: tuple[float, ...] = ()
    mass: float = 1.0
    why: str = ""
    # The option that the answer names, as shown.
    answer: str = ""


@dataclass(frozen=True)
class Verdict:
    """The score of a text, or `outcome` and the first reason why it has none. `components`: the number of readings
    (`n`) of those asked for, how many named the text (`yes`, of answers read by their words), and the least mass."""

    value: float | None
    outcome: Outcome = Outcome.ANSWERED
    why: str = ""
    components: Mapping[str, float] = field(default_factory=dict)


def verdict_of(readings: Sequence[tuple[int, Reading]], *, sampled: bool) -> Verdict:
    """Combine (index of the option, reading) of all questions about a text.

    Every question must be answered; if answers are `sampled`, at least one.
    """
    answered = [(index, reading) for index, reading in readings if reading.outcome == Outcome.ANSWERED]
    others = [reading for _, reading in readings if reading.outcome != Outcome.ANSWERED]
    counts: dict[str, float] = {"n": len(answered), "asked": len(readings)}
    if others and not (sampled and answered and all(reading.outcome != Outcome.FAILED for reading in others)):
        # A failure comes first, because that question can be repeated.
        first = min(others, key=lambda reading: reading.outcome != Outcome.FAILED)
        return Verdict(None, first.outcome, first.why, counts)
    shares = [reading.shares[index] for index, reading in answered]
    if sampled:
        return Verdict(sum(shares) / len(shares), components={**counts, "yes": sum(map(round, shares))})
    mass = min(reading.mass for _, reading in answered)
    return Verdict(sum(shares) / len(shares), components={**counts, "mass": mass})


def read(
    reply: ChatReply,
    options: Sequence[str],
    *,
    by_probability: bool,
    texts: Sequence[str] = (),
    min_mass: float = MIN_MASS,
) -> Reading:
    """Read which of `options` (yes and no, or letters) the reply names. `texts`: those that the letters name."""
    if reply.refusal:
        return Reading(Outcome.REFUSED, why=reply.refusal)
    if reply.failure and reply.failure != EMPTY_ANSWER:
        return Reading(Outcome.FAILED, why=reply.failure)
    reading = by_words(reply.text, options, texts, reason="length" if reply.cut else reply.reason)
    answer, is_open = without_thoughts(reply.text)
    # The first token of a thought says nothing about the answer.
    if not by_probability or is_open or reading.outcome == Outcome.REFUSED or not _begins(reply.logprobs, answer):
        return reading
    return by_logprobs(reply.logprobs, options, min_mass) or reading


def by_words(text: str, options: Sequence[str], texts: Sequence[str] = (), reason: str = "") -> Reading:
    """Read the option that the text names. `reason`: why the server stopped.

    Options of one letter are read as letters of `texts`: the "A" of "A man folds a shirt" is an article.
    """
    is_polar = tuple(options) == YES_NO
    answer = (
        read_answer(text, texts or ("",) * len(options), finish_reason=reason)
        if not is_polar
        else (read_answer(text, YES_NO, has_letters=False, finish_reason=reason))
    )
    if answer.option is None:
        outcome = Outcome.REFUSED if answer.reason == REFUSED else Outcome.UNPARSABLE
        start = _start(text if answer.reason == CUT_OFF else without_thoughts(text)[0])
        return Reading(outcome, why=f"{SENTENCES[answer.reason]}: {start}".removesuffix(": "))
    shares = tuple(float(index == answer.option) for index in range(len(options)))
    return Reading(Outcome.ANSWERED, shares, answer=options[answer.option])


def _begins(rows: Sequence[Sequence[tuple[str, float]]], answer: str) -> bool:
    """Report whether the answer begins with a token of the first row that is more than space."""
    start = answer.lstrip(AROUND).casefold()
    for row in rows:
        if row and row[0][0].strip(AROUND):
            return any(start.startswith(token.strip(AROUND).casefold()) for token, _ in row if token.strip(AROUND))
    return False


def by_logprobs(
    rows: Sequence[Sequence[tuple[str, float]]], options: Sequence[str], min_mass: float = MIN_MASS
) -> Reading | None:
    """Read the options' probabilities at the first token that is more than space; None if none was reported.

    Variants of an option count together: "Yes", " yes", "YES,". An option that is not among the reported alternatives
    counts as improbable, so a report of few alternatives makes shares a little more extreme.
    """
    for row in rows:
        if not row or not row[0][0].strip(AROUND):
            continue
        return by_masses(masses(dict(row), options), options, min_mass)
    return None


def by_masses(option_masses: Sequence[float], options: Sequence[str], min_mass: float = MIN_MASS) -> Reading:
    """Read the probabilities of the options at one token. Options with less than `min_mass` together are unparsable."""
    total = sum(option_masses)
    if total < min_mass or total == 0:
        return Reading(Outcome.UNPARSABLE, mass=total, why=MASS_IS_SMALL.format(mass=total, least=min_mass))
    shares = tuple(value / total for value in option_masses)
    return Reading(Outcome.ANSWERED, shares, total, answer=options[shares.index(max(shares))])


def masses(alternatives: Mapping[str, float], options: Sequence[str]) -> list[float]:
    """Return the probability of each option at one token.

    Tokens that begin an option count instead if they have more probability: a tokenizer of letters spells "yes" as "y",
    "e", "s".
    """
    token_masses = [(token.strip(AROUND).casefold(), math.exp(value)) for token, value in alternatives.items()]
    lower = [option.casefold() for option in options]
    whole_masses = [sum(value for token, value in token_masses if token == option) for option in lower]
    prefixes = [{option[:n] for n in range(1, len(option))} for option in lower]
    shared = {start for start in set().union(*prefixes) if sum(start in starts for starts in prefixes) > 1}
    begun_masses = [sum(value for token, value in token_masses if token in starts - shared) for starts in prefixes]
    return max(whole_masses, begun_masses, key=sum)


def _start(text: str) -> str:
    return " ".join(text.split())[:120]
