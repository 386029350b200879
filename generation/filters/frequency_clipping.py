"""Drop foils whose preposition would be more frequent in foils than in captions (ViLMA, Secs. 3.6 and C.6).

Runs last, in the captions' order: at any point of the run a preposition occurs in at most as many kept foils as
its share of the captions so far, so that the frequency of a preposition does not reveal foils.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from generation.grammar.prepositions import relations
from generation.records import CaptionInput, Case, Verdict

VERSION = "3"
COSTLY = True
RUNS_LAST = True


@dataclass
class Counts:
    """The counts of each preposition in the run's captions, and the position in the run.

    `mode`: which words count as prepositions, see `relations`.
    """

    mode: str = "corrected"
    captions: Counter[str] = field(default_factory=Counter)
    total: int = 0
    accepted: Counter[str] = field(default_factory=Counter)
    # Captions with a foil to judge, including the current one.
    seen: int = 0
    last: str = ""

    def room(self, phrase: str) -> int:
        """Return how many foils with the preposition may be kept so far."""
        return ceil(self.captions[phrase] * min(self.seen, self.total) / self.total) if self.total else 0

    def turn_to(self, caption: str) -> None:
        if caption != self.last:
            self.seen, self.last = self.seen + 1, caption


def prepare(captions: Iterable[CaptionInput], *, params: dict[str, Any]) -> Counts:
    """Count the prepositions of the run's captions, whole phrases as one ("from left to right")."""
    # A run of an older version lacks this parameter.
    counts = Counts(params.get("relations", "corrected"))
    for caption in captions:
        phrases = _phrases(caption.text, counts.mode)
        counts.captions.update(phrases)
        counts.total += bool(phrases)
    return counts


def restore(state: Counts, judged: Iterable[tuple[str, str, str, bool]]) -> None:
    """Count earlier verdicts: (a name of the caption, its text, the foil, passed), in order."""
    for name, text, foil, passed in judged:
        state.turn_to(name)
        if passed:
            state.accepted.update(_new(text, foil, state.mode))
    state.last = ""


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any], state: Counts) -> Verdict:
    return judge_many([Case(caption, foil, tuple(others))], params=params, state=state)[0]


def judge_many(cases: Sequence[Case], *, params: dict[str, Any], state: Counts) -> list[Verdict]:
    """Score each foil by the kept foils with its preposition, including itself, minus those allowed; passes up to 0."""
    del params
    verdicts = []
    for case in cases:
        state.turn_to(case.caption.id)
        verdicts.append(_verdict(_new(case.caption.text, case.foil, state.mode), state))
    return verdicts


def _verdict(phrases: Sequence[str], state: Counts) -> Verdict:
    if not phrases:
        return Verdict(True, None, "no new preposition")
    phrase = max(phrases, key=lambda new_phrase: (state.accepted[new_phrase] + 1 - state.room(new_phrase), new_phrase))
    over = state.accepted[phrase] + 1 - state.room(phrase)
    if over > 0:
        why = f"'{phrase}' occurs in {state.accepted[phrase]} foils and {state.captions[phrase]} captions"
        return Verdict(False, float(over), why)
    state.accepted.update(phrases)
    return Verdict(True, float(over))


def _new(caption: str, foil: str, mode: str) -> list[str]:
    """Return the foil's prepositions that the caption lacks, or has less often."""
    return sorted((Counter(_phrases(foil, mode)) - Counter(_phrases(caption, mode))).elements())


def _phrases(text: str, mode: str) -> list[str]:
    return [relation.phrase for relation in relations(text, mode)]
