"""Read all records once: counts of everything, a sample for what needs texts."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import regex

from evaluation.analyses.sampling import Sample
from evaluation.audit.records import label_is_true
from evaluation.audit.repeats import Repeats
from foilworks.core.corpus.records import TextRecord
from foilworks.core.text.tokens import words

# With more different words, the rare ones are dropped, which are no cue.
MAX_WORDS = 200_000
SCRIPTS = ("Latin", "Han", "Hiragana", "Katakana", "Hangul", "Cyrillic", "Arabic", "Devanagari", "Thai", "Greek")
_SCRIPTS = {name: regex.compile(rf"\p{{Script={name}}}") for name in SCRIPTS}
# Japanese is written in three scripts.
_ONE = {"Hiragana": "Japanese", "Katakana": "Japanese"}
FIELDS = ("id", "video", "split", "licence")
MAX_CHANGED = 20


@dataclass
class Counts:
    """What is counted over all records of a subtest.

    `positions`: number of options -> position of the right text -> items; `changed`: words changed -> pairs; `more`:
    word -> pairs in which it is only, or more often, in the wrong text, minus those in which it is in the right one.
    `compared`: the pairs that these two count; of an item with a hard foil only its pair. `labels`: label -> items.
    """

    items: int = 0
    pairs: int = 0
    compared: int = 0
    questions: int = 0
    options: Counter[int] = field(default_factory=Counter)
    positions: dict[int, Counter[int]] = field(default_factory=dict)
    changed: Counter[int] = field(default_factory=Counter)
    reordered: int = 0
    more: Counter[str] = field(default_factory=Counter)
    labels: Counter[bool] = field(default_factory=Counter)

    def add(self, record: TextRecord, right: list[str], wrongs: list[list[str]]) -> None:
        self.items += 1
        self.pairs += len(wrongs)
        self.questions += bool(record.question)
        self.options[record.n_options] += 1
        if record.is_label:
            self.labels[label_is_true(record)] += 1
            return
        if record.position is not None:
            self.positions.setdefault(record.n_options, Counter())[record.position] += 1
        counted = Counter(right)
        compared = record.counted(wrongs)
        self.compared += len(compared)
        for wrong in compared:
            self._compare(right, counted, wrong)
        if len(self.more) > MAX_WORDS:
            self.more = Counter({word: n for word, n in self.more.items() if abs(n) > 1})

    def _compare(self, right: list[str], counted: Counter[str], wrong: list[str]) -> None:
        wrong_counts = Counter(wrong)
        put_in, taken_out = wrong_counts - counted, counted - wrong_counts
        n_changed = max(put_in.total(), taken_out.total())
        self.changed[min(MAX_CHANGED, n_changed)] += 1
        self.reordered += not n_changed and right != wrong
        for word in put_in:
            self.more[word] += 1
        for word in taken_out:
            self.more[word] -= 1


@dataclass
class FileStatistics:
    """What one pass finds.

    `open_sample`: questions without options, which nothing else counts.
    `missing`: field -> records without it. `hard_foils`: how the hard foil is known -> records.
    """

    sample: Sample
    counts: dict[str, Counts] = field(default_factory=dict)
    overall: Counts = field(default_factory=Counts)
    repeats: Repeats = field(default_factory=Repeats)
    scripts: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    licences: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    hard_foils: Counter[str] = field(default_factory=Counter)
    open_sample: Sample = field(default_factory=Sample)


def gather(records: Iterable[TextRecord], sample: Sample) -> FileStatistics:
    """Count all records, and draw the sample."""
    statistics = FileStatistics(sample)
    statistics.open_sample = Sample(sample.seed, sample.items)
    for record in records:
        if not record.wrongs:
            statistics.open_sample.add(record)
            continue
        right, wrongs = words(record.right), [words(text) for text in record.wrongs]
        for counts in (statistics.overall, statistics.counts.setdefault(record.subtest, Counts())):
            counts.add(record, right, wrongs)
        statistics.repeats.add(record, right, wrongs)
        statistics.scripts[script_of(record.question if record.is_label else record.right)] += 1
        statistics.missing.update(name for name in FIELDS if not getattr(record, name))
        _count_value(statistics.languages, record.language)
        _count_value(statistics.licences, record.licence)
        if record.hard is not None:
            statistics.hard_foils[record.hard_source] += 1
        if record.counted(record.wrongs):
            sample.add(record.probed())
    return statistics


def _count_value(counter: Counter[str], name: str) -> None:
    if name and (name in counter or len(counter) < 100):
        counter[name] += 1


def script_of(text: str) -> str:
    """Return the script of most letters; "none" without letters."""
    if text.isascii():
        return "Latin" if any(map(str.isalpha, text)) else "none"
    counted: Counter[str] = Counter()
    for name, pattern in _SCRIPTS.items():
        counted[_ONE.get(name, name)] += len(pattern.findall(text))
    if counted["Japanese"]:
        # Kanji among kana are Japanese.
        return "Japanese"
    name, n = counted.most_common(1)[0]
    return name if n else ("other" if any(map(str.isalpha, text)) else "none")
