"""Drops foils whose preposition foils would use more often than the captions do (ViLMA, Secs. 3.6 and C.6).

Judged last and in the captions' order: at any point of the run a preposition stands in at most as many kept foils as
its share of the captions up to there, so that nobody can tell foils from captions by how often a preposition occurs.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from generation.grammar.prepositions import relations
from generation.records import CaptionInput, Case, Verdict

VERSION = "2"
COSTLY = True
RUNS_LAST = True


@dataclass
class Counts:
    """How often the run's captions use each preposition, and how far the run has come.

    `mode`: what counts as a preposition, see `relations`.
    """

    mode: str = "corrected"
    captions: Counter[str] = field(default_factory=Counter)
    total: int = 0
    kept: Counter[str] = field(default_factory=Counter)
    # Captions with a foil to judge, the one that is judged now among them.
    seen: int = 0
    last: str = ""

    def room(self, phrase: str) -> int:
        """How many foils with it may be kept up to here."""
        return ceil(self.captions[phrase] * min(self.seen, self.total) / self.total) if self.total else 0

    def turn_to(self, caption: str) -> None:
        if caption != self.last:
            self.seen, self.last = self.seen + 1, caption


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any]) -> Counts:
    """The prepositions of the run's captions, whole phrases as one ("from left to right")."""
    # A run that was asked for before this parameter has none.
    counts = Counts(params.get("relations", "corrected"))
    for caption in captions:
        found = _phrases(caption.text, counts.mode)
        counts.captions.update(found)
        counts.total += bool(found)
    return counts


def restore(state: Counts, judged: Iterable[tuple[str, str, str, bool]]) -> None:
    """Count what has been judged before: (a name of the caption, its text, the foil, passed), in order."""
    for name, text, foil, passed in judged:
        state.turn_to(name)
        if passed:
            state.kept.update(_new(text, foil, state.mode))
    state.last = ""


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any], state: Counts) -> Verdict:
    return judge_many([Case(caption, foil, tuple(others))], params=params, state=state)[0]


def judge_many(cases: Sequence[Case], *, params: dict[str, Any], state: Counts) -> list[Verdict]:
    """Score: kept foils with the preposition, this one among them, minus those there is room for; passes up to 0."""
    del params
    verdicts = []
    for case in cases:
        state.turn_to(case.caption.id)
        verdicts.append(_verdict(_new(case.caption.text, case.foil, state.mode), state))
    return verdicts


def _verdict(phrases: Sequence[str], state: Counts) -> Verdict:
    if not phrases:
        return Verdict(True, None, "no new preposition")
    phrase = max(phrases, key=lambda one: (state.kept[one] + 1 - state.room(one), one))
    over = state.kept[phrase] + 1 - state.room(phrase)
    if over > 0:
        why = f"'{phrase}' stands in {state.kept[phrase]} foils and {state.captions[phrase]} captions"
        return Verdict(False, float(over), why)
    state.kept.update(phrases)
    return Verdict(True, float(over))


def _new(caption: str, foil: str, mode: str) -> list[str]:
    """The foil's prepositions that the caption has not, or has less often."""
    return sorted((Counter(_phrases(foil, mode)) - Counter(_phrases(caption, mode))).elements())


def _phrases(text: str, mode: str) -> list[str]:
    return [relation.phrase for relation in relations(text, mode)]
