"""Name the few shortcuts that carry an audit's result, each with what it is, what to do, and two items as examples."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from foilworks.core.corpus.records import TextRecord
from foilworks.core.solver.solution import ItemScore, Solution
from foilworks.core.text.tokens import words

MAX_SHORTCUTS, EXAMPLES = 4, 2
# A shortcut of fewer of the answered items carries nothing.
MIN_SHARE = 0.03
# Items with a text before its share of right answers is quoted.
MIN_OFFERED = 5
# What is said of options, and the text that they share.
Mark = tuple[str, str]


class Shortcut(NamedTuple):
    """`families`: of the solver's features; `means` says what it is, `fix` what to do about it."""

    title: str
    families: frozenset[str]
    means: str
    fix: str


SHORTCUTS = (
    Shortcut(
        "Telling words",
        frozenset({
            "words of the option", "words crossed with the question", "pairs of words", "characters",
            "words of the question with words of the option", "components of the characters",
        }),
        "Single words are often in right options and seldom in wrong ones, whatever the type of question.",
        "Use the same words in right and wrong options: let each answer also be a wrong option of other questions.",
    ),
    Shortcut(
        "Usual answers",
        frozenset({"option as a whole", "type of question", "words of the question with the option"}),
        "For a type of question, the same answers, or those with one beginning or end, are right again and again.",
        "Balance the answers within each type: each option should be right as often as it is offered by chance.",
    ),
    Shortcut(
        "Answers that come back",
        frozenset({"repeats in the set", "equal questions of other videos"}),
        "Right options come back in other items more often, or less often, than wrong ones do.",
        "Draw wrong options from the right options of other items, so that both come back equally often.",
    ),
    Shortcut(
        "Form of the options",
        frozenset({"surface form", "length and word classes", "form of the option by type of question"}),
        "Right options are written differently: their length, punctuation or kinds of words give them away.",
        "Write all options in one style and length, by the same hand.",
    ),
    Shortcut(
        "Options compared with each other",
        frozenset({"relations among options"}),
        "The right option is the one that the others are like, or the odd one out.",
        "Make wrong options differ from each other as much as from the right one.",
    ),
    Shortcut(
        "Words of the question",
        frozenset({"relation to the question"}),
        "The right option takes up words of its question, or their order, more than the wrong ones do.",
        "Let right and wrong options take up the question's words equally.",
    ),
    Shortcut(
        "Size of numbers",
        frozenset({"numbers"}),
        "Among numbers, the right option is often of the same rank, such as the middle one.",
        "Put the right number at each rank equally often.",
    ),
    Shortcut(
        "Place of the options",
        frozenset({"position"}),
        "The right option is often at the same place, or its place depends on the kind of question.",
        "Shuffle the options.",
    ),
    Shortcut(
        "Other questions of the video",
        frozenset({"other items of the video"}),
        "Questions of one video answer each other: what one names, another one asks.",
        "Ask about one video only what its other questions and options do not say.",
    ),
)  # fmt: skip


# Their examples quote a word or an option; those of the others name the feature.
OF_WORDS = frozenset({"Telling words", "Usual answers"})


@dataclass(frozen=True)
class Example:
    """An item that the solver answers: its texts, and what in them or in the set points to the answer."""

    id: str
    question: str
    right: str
    wrongs: list[str]
    evidence: str


@dataclass(frozen=True)
class ShortcutResult:
    """`items`: answered items that it is the main reason of; `share`: of all answered items; `points`: above chance by
    its strongest family of features alone (0.1: 10 points)."""

    title: str
    means: str
    fix: str
    items: int
    share: float
    points: float
    examples: list[Example]


def shortcuts_of(solution: Solution, records: Sequence[TextRecord]) -> list[ShortcutResult]:
    """Return the shortcuts of the answered items, the most frequent first. `records`: those of `solution.items`."""
    answered = [
        (item, record) for item, record in zip(solution.items, records, strict=True) if item.tier in {"item", "set"}
    ]
    points = {family.family: family.importance for family in solution.families}
    offers = Offers(records)
    results = []
    for shortcut in SHORTCUTS:
        own = [row for row in answered if row[0].reason.split(":")[0] in shortcut.families]
        if len(own) >= max(1, MIN_SHARE * len(answered)):
            results.append(
                ShortcutResult(
                    shortcut.title, shortcut.means, shortcut.fix, len(own), len(own) / len(answered),
                    max(points.get(family, 0.0) for family in shortcut.families),
                    _examples(own, offers, by_words=shortcut.title in OF_WORDS),
                )
            )  # fmt: skip
    return sorted(results, key=lambda row: -row.items)[:MAX_SHORTCUTS]


def _examples(rows: Sequence[tuple[ItemScore, TextRecord]], offers: "Offers", *, by_words: bool) -> list[Example]:
    """Return the surest items, of different subtests if there are. `by_words`: a word or option is their evidence."""
    by_subtest: dict[str, tuple[ItemScore, TextRecord]] = {}
    surest = sorted(rows, key=lambda row: (-row[0].s_minus_chance, row[0].id))
    for row in surest:
        by_subtest.setdefault(row[1].subtest, row)
    first = list(by_subtest.values())
    examples = first + [row for row in surest if row not in first]
    return [
        Example(
            item.id,
            record.question,
            record.right,
            list(record.wrongs),
            offers.evidence(record, item.reason) if by_words else item.reason,
        )
        for item, record in examples[:EXAMPLES]
    ]


class Offers:
    """How often each option, and each word of some but not all options of an item, is offered, and is right."""

    def __init__(self, records: Iterable[TextRecord]) -> None:
        self._n, self._right = Counter[Mark](), Counter[Mark]()
        self._expected: defaultdict[Mark, float] = defaultdict(float)
        for record in records:
            options = [_marks(text) for text in (record.right, *record.wrongs)]
            for mark in options[0].union(*options) - options[0].intersection(*options):
                self._n[mark] += 1
                self._right[mark] += mark in options[0]
                self._expected[mark] += sum(mark in option for option in options) / len(options)

    def evidence(self, record: TextRecord, reason: str) -> str:
        """Return how often the option, or the most telling word of it, is right; otherwise the feature."""
        options = [_marks(text) for text in (record.right, *record.wrongs)]
        own = options[0] - options[0].intersection(*options)
        excess = {
            mark: (self._right[mark] - self._expected[mark]) / self._n[mark] ** 0.5
            for mark in own
            if self._n[mark] >= MIN_OFFERED
        }
        best = max(sorted(excess), key=lambda mark: excess[mark], default=None)
        if best is None or excess[best] <= 1:
            return reason
        n, expected = self._n[best], 100 * self._expected[best] / self._n[best]
        return (
            f"{best[0]} “{best[1]}” are right in {100 * self._right[best] / n:.0f} % of the {n:,} items that have "
            f"some; by chance in {expected:.0f} %"
        )


def _marks(text: str) -> set[Mark]:
    own = words(text)
    marks = {("options that are", text.strip().lower()), *(("options with", word) for word in own)}
    return marks | ({("options that begin with", own[0]), ("options that end with", own[-1])} if own else set())
