"""Read answers: yes or no, or a letter, by the words or by the probabilities of the tokens. Pure.

An answer that names none of the options is unparsable. A model that declines has refused. Neither counts as wrong or as
half right: both are counted separately.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from foilworks.core.hub.interfaces import ChatReply

# Change the version with any rule of this module: it is part of every score's revision.
READINGS = "2"
# With less, most answers that the model would give name none of the options, as an unparsable sample does. The shares
# would describe a minority of its answers, and an option missing from the reported alternatives could reverse them.
MIN_MASS = 0.5
MASS_IS_SMALL = "the options have {mass:.1%} of the first token's probability, less than {least:.0%}"
# Marks that tokenizers put at the beginning of a word, and characters around a word.
AROUND = " \t\r\n\u2581\u0120\u010a*_`\"'“”‘’().,:;!?[]"
# A refusal in plain words, from servers without a field for it.
DECLINES = re.compile(
    r"\b(i(?:'|\u2019)?m sorry|i am sorry|i (?:can(?:no|')?t|cannot|am unable to|won't|will not) "
    r"(?:help|assist|answer|comply|provide|view|see|describe|do that)|as an ai\b)",
    re.IGNORECASE,
)
WORDS = re.compile(r"[^\W_]+")
# After "A" or "I", these words show that the letter is an option: no noun begins like this.
AFTER_A_LETTER = frozenset(
    {"is", "was", "or", "and", "because", "since", "as", "matches", "describes", "fits", "shows", "seems"}
)


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


def read(reply: ChatReply, options: Sequence[str], *, by_probability: bool) -> Reading:
    """Read which of `options` (such as "yes" and "no") the reply names."""
    if reply.refusal:
        return Reading(Outcome.REFUSED, why=reply.refusal)
    if reply.failure and reply.failure != "empty answer":
        return Reading(Outcome.FAILED, why=reply.failure)
    if DECLINES.search(reply.text):
        return Reading(Outcome.REFUSED, why=_start(reply.text))
    if by_probability and (reading := by_logprobs(reply.logprobs, options)) is not None:
        return reading
    return by_words(reply.text, options)


def by_words(text: str, options: Sequence[str]) -> Reading:
    """Read the option that the text begins with, or the only one that it names as a word of its own.

    Options of one letter are read as letters: the "A" of "A man folds a shirt" is an article and names nothing.
    """
    letters = max(map(len, options)) == 1
    named_options = _options_by_letter(text, options) if letters else _options_by_word(text, options)
    if len(named_options) != 1:
        why = "it names none of the options" if not named_options else "it names several options"
        return Reading(Outcome.UNPARSABLE, why=f"{why}: {_start(text) or 'empty answer'}")
    shares = tuple(float(at == named_options[0]) for at in range(len(options)))
    return Reading(Outcome.ANSWERED, shares, answer=options[named_options[0]])


def _options_by_word(text: str, options: Sequence[str]) -> list[int]:
    text_words = [word.casefold() for word in WORDS.findall(text)]
    lower = [option.casefold() for option in options]
    if text_words and text_words[0] in lower:
        return [lower.index(text_words[0])]
    return [at for at, option in enumerate(lower) if option in text_words]


def _options_by_letter(text: str, options: Sequence[str]) -> list[int]:
    """Return the options whose letter stands alone. A small letter counts only where the text begins with it."""
    words = list(WORDS.finditer(text))
    named_options = set()
    for at, (word, following) in enumerate(zip(words, [*words[1:], None], strict=True)):
        letter = word.group()
        if letter.upper() not in options or (letter.islower() and at):
            continue
        if following and text[word.end() : following.start()].isspace():
            begins_a_phrase = letter.islower() or letter in ("A", "I")
            if begins_a_phrase and following.group().casefold() not in AFTER_A_LETTER:
                continue
        if at == 0:
            return [options.index(letter.upper())]
        named_options.add(options.index(letter.upper()))
    return sorted(named_options)


def by_logprobs(rows: Sequence[Sequence[tuple[str, float]]], options: Sequence[str]) -> Reading | None:
    """Read the options' probabilities at the first token that is more than space; None if none was reported.

    Variants of an option count together: "Yes", " yes", "YES,". An option that is not among the reported alternatives
    counts as improbable, so a report of few alternatives makes shares a little more extreme. Options that have less
    than MIN_MASS together are unparsable.
    """
    for row in rows:
        if not row or not row[0][0].strip(AROUND):
            continue
        option_masses = masses(dict(row), options)
        total = sum(option_masses)
        if total < MIN_MASS:
            return Reading(Outcome.UNPARSABLE, mass=total, why=MASS_IS_SMALL.format(mass=total, least=MIN_MASS))
        shares = tuple(value / total for value in option_masses)
        return Reading(Outcome.ANSWERED, shares, total, answer=options[shares.index(max(shares))])
    return None


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
