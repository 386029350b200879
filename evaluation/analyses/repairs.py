"""Propose how an item that its texts answer becomes fair without leaving the set."""

import random
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from foilworks.core.corpus.records import TextRecord
from foilworks.core.solver.pruning import Pruned
from foilworks.core.solver.solution import ItemScore
from foilworks.core.text.tokens import words

Kind = Literal["normalize", "redraw", "separate", "pair", "exchange", "replace"]
FORM_FAMILIES = ("surface form", "form of the statement")
NEIGHBOUR_FAMILIES = ("other items of the video", "equal questions of other videos", "repeats in the set")


@dataclass(frozen=True)
class Repair:
    """A proposal. `detail`: the new options of "normalize" and "redraw"; of the others, the id of the second item.

    normalize: all options get one form. redraw: another order of the options. separate: keep one of two neighbours.
    pair: the second item has the same texts, and the other one is true. exchange: each right text becomes the foil of
    the other item, if it is false there. replace: make foils by another method.
    """

    kind: Kind
    detail: str = ""


class Repairs:
    """Proposals for the items of one set."""

    def __init__(self, records: Sequence[TextRecord], seed: int = 0) -> None:
        self.records, self.seed = records, seed
        self.by_right: dict[str, list[int]] = defaultdict(list)
        self.by_video: dict[str, list[int]] = defaultdict(list)
        self.by_question: dict[tuple[str, str], list[int]] = defaultdict(list)
        for row, record in enumerate(records):
            self.by_right[record.right].append(row)
            self.by_question[record.subtest, _template(record)].append(row)
            if record.video:
                self.by_video[record.video].append(row)

    def of(self, row: int, score: ItemScore) -> Repair:
        """Return the proposal for one item, by the family that answers it."""
        record, family = self.records[row], score.reason.partition(":")[0]
        options = options_of(record)
        normal = [normalized(option) for option in options]
        if family in FORM_FAMILIES and normal != options and len(set(normal)) == len(options):
            return Repair("normalize", " | ".join(normal))
        if record.position is not None and (family == "position" or " index " in f" {score.reason} "):
            return Repair("redraw", " | ".join(random.Random(f"{self.seed} {record.id}").sample(options, len(options))))
        if family in NEIGHBOUR_FAMILIES and (near := self._nearest(row)):
            return Repair("separate", near)
        mirror = [
            other
            for wrong in record.wrongs
            for other in self.by_right[wrong]
            if self.records[other].video != record.video
        ]
        if mirror:
            return Repair("pair", self._name(mirror[0]))
        if not record.is_label and (partner := self._partner(row)):
            return Repair("exchange", partner)
        return Repair("replace")

    def _nearest(self, row: int) -> str:
        """Return the item of the same video, or with the same texts, that shares most words with this one."""
        record = self.records[row]
        candidates = {*self.by_video.get(record.video, ()), *self.by_right[record.right]} - {row}
        own = set(words(" ".join([record.question, *options_of(record)])))
        shared = {
            other: len(own & set(words(" ".join([self.records[other].question, *options_of(self.records[other])]))))
            for other in candidates
        }
        best = max(shared, key=lambda other: (shared[other], -other), default=None)
        return "" if best is None else self._name(best)

    def _partner(self, row: int) -> str:
        """Return another video's item of the same type of question, whose right text is near in length."""
        record = self.records[row]
        rows = [
            other
            for other in self.by_question[record.subtest, _template(record)]
            if self.records[other].video != record.video and self.records[other].right not in options_of(record)
        ]
        best = min(
            rows, key=lambda other: (abs(len(self.records[other].right) - len(record.right)), other), default=None
        )
        return "" if best is None else self._name(best)

    def _name(self, row: int) -> str:
        return self.records[row].id or str(self.records[row].where)


def review(records: Sequence[TextRecord], pruned: Pruned, seed: int) -> list[dict[str, Any]]:
    """Return per record its score, why it is answered, what the selection does, and a proposal if it is answered."""
    repairs, rows = Repairs(records, seed), []
    for row, (score, is_kept) in enumerate(zip(pruned.before.items, pruned.is_kept.tolist(), strict=True)):
        repair = repairs.of(row, score) if score.tier or not is_kept else None
        rows.append(
            {
                "action": "keep" if is_kept else "remove",
                **{name: getattr(score, name) for name in ("s", "s_minus_chance", "tier", "reason")},
                "repair": repair.kind if repair else "",
                "detail": repair.detail if repair else "",
            }
        )
    return rows


def options_of(record: TextRecord) -> list[str]:
    """Return the options in the order of the file; the right text first if it has none."""
    at = record.position or 0
    return [*record.wrongs[:at], record.right, *record.wrongs[at:]]


def normalized(text: str) -> str:
    """Return a text in the normal form: composed characters, single blanks, a capital, no full stop at the end."""
    plain = " ".join(unicodedata.normalize("NFKC", text).split()).rstrip(".")
    return plain[:1].upper() + plain[1:]


def _template(record: TextRecord) -> str:
    return " ".join(words(record.question)[:2])
