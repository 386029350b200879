"""Stop a release by its blind audit: a subtest that texts alone solve, or texts that no probe can judge.

The rules are in docs/explanation/balance.md#gate. The gate fails closed: a pair without words, or with equal words,
stops the release until somebody writes a reason.

The verdict is that of `foilworks audit` on the export of the release: the same questions, the same sample of a large
release, the same solver, once over all its items. A subtest is solved if a blind probe is right more often than the
limit, and its interval is above chance; with a limit of at most `USUAL_LIMIT`, also if its verdict is "fail". If the
verdict of all items is "fail", some subtest is solved. The probes are the solver and each language model of the
project. A published set cannot change, so a subtest with only published items is reported and never stopped. A language
model that has not scored all pairs yet does not stop a subtest with too few captions, and its row says that it is
`unread` in part.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count, Q
from django.utils.translation import gettext as _

from evaluation.analyses.analysis_inputs import ItemFacts
from evaluation.analyses.preference import preference
from evaluation.analyses.questions import released_texts
from evaluation.analyses.registry import REPORTS
from evaluation.analyses.sampling import Sample
from evaluation.analyses.text_counts import TextCounts
from evaluation.blind.scores import known_values, scorers_of
from evaluation.cached_results.cache import cached_by_fingerprint, digest
from foilworks.core.corpus.models import COUNTS_AS_VALID, Item, Subtest
from foilworks.core.corpus.records import TextRecord
from foilworks.core.projects.models import Project
from foilworks.core.solver.solution import Selection
from foilworks.core.text.registry import load

# With fewer captions, a share of right answers is too uncertain to stop a release; the page says so.
MIN_CAPTIONS = 20
VERSION = "6"
# Of pairs, where chance is .5. A project that tolerates more sets a higher limit.
USUAL_LIMIT = 0.6
# Loaded by path, so that web pages do not import scikit-learn.
BLIND = REPORTS["blind"]
KIND = "gate"
WORDS = 5
MAX_QUOTED = 60


@dataclass(frozen=True)
class GateFinding:
    """`rows`: one per subtest, as JSON; `stopped`: the names of those that a blind probe solves or cannot judge;
    `verdict`: that of an audit of all items, None without items that can be solved."""

    rows: list[dict[str, Any]]
    verdict: str | None = None

    @property
    def stopped(self) -> list[str]:
        return [row["name"] for row in self.rows if row["stopped"]]

    @property
    def reported(self) -> list[str]:
        """Return published subtests that a blind probe solves."""
        return [row["name"] for row in self.rows if row.get("reported")]

    def as_json(self) -> dict[str, Any]:
        return {"rows": self.rows, "stopped": self.stopped, "verdict": self.verdict, "version": VERSION}

    def why(self) -> str:
        """Return what stops the release, and which words give it away, in a sentence or two per subtest."""
        return " ".join(_reasons([row for row in self.rows if row["stopped"]]))

    def remarks(self) -> list[str]:
        """Return what would stop the release if it were not a published set."""
        return _reasons([row for row in self.rows if row.get("reported")])


def _reasons(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    solved = [_sentence(row) for row in rows if row["solved"]]
    return [*solved, *(_unjudged_sentence(row) for row in rows if row["n_unjudged"])]


class ReleasedTexts:
    """What the gate reads of a release: a sample of its texts in memory, with counts and a fingerprint of all."""

    def __init__(self, texts: Iterable[TextRecord]) -> None:
        self.sample, self.counts = Sample(), dict[str, TextCounts]()
        self.fingerprint = digest(map(self._add, texts))
        self.items = [
            ItemFacts(id=text.id, subtest=text.subtest, caption=text.right, foils=text.wrongs)
            for text in self.sample.of_subtests()
        ]

    def _add(self, text: TextRecord) -> dict[str, Any]:
        self.sample.add(text)
        self.counts.setdefault(text.subtest, TextCounts()).add(text.id, text.right, text.wrongs)
        return asdict(text)


def inspect(
    project: Project, records: Collection[Mapping[str, Any]], selection: Selection | None = None
) -> GateFinding:
    """Run the gate on these frozen records under the limits of the project and its subtests.

    `selection`: the record of the selection that left these records.
    Cached by its inputs (texts, limits, scorers), so that the same content is inspected once.
    """
    texts = ReleasedTexts(released_texts(records))
    bars = bars_of(project)
    values = {scorer.label: known_values(scorer, texts.items) for scorer in scorers_of(project)}
    published = sorted(published_subtests(project) & texts.counts.keys())
    fingerprints = {label: scored.fingerprint for label, scored in values.items()}
    inputs = [texts.fingerprint, bars, fingerprints, published, selection and asdict(selection)]
    fingerprint = digest([VERSION, load(BLIND).VERSION, *inputs])

    def make() -> dict[str, Any]:
        preferences = {
            label: preference(texts.items, scored.scores) for label, scored in values.items() if scored.fingerprint
        }
        return judge(texts, bars, preferences, published, selection).as_json()

    stored = cached_by_fingerprint(project, KIND, "", fingerprint, make, in_memory=False)
    return GateFinding(stored["rows"], stored["verdict"])


def bars_of(project: Project) -> dict[str, float]:
    """Return the limit of each subtest: its own, else the project's."""
    rows = Subtest.objects.filter(project=project).values_list("name", "blind_bar")
    return {name: project.blind_bar if bar is None else bar for name, bar in rows}


def published_subtests(project: Project) -> set[str]:
    """Return the subtests whose valid items were all imported as published, whatever later votes say."""
    valid = Item.objects.filter(COUNTS_AS_VALID, subtest__project=project)
    by_name = dict(valid.order_by().values_list("subtest__name").annotate(n=Count("pk", filter=Q(as_published=False))))
    return {name for name, n_others in by_name.items() if not n_others}


def judge(
    texts: ReleasedTexts,
    bars: Mapping[str, float],
    preferences: Mapping[str, Mapping[str, Any]],
    published: Collection[str] = (),
    selection: Selection | None = None,
) -> GateFinding:
    """Return the gate's rows of the texts.

    `preferences`: label -> evaluation.analyses.preference.preference over their items. `published`: subtests that are
    reported and never stopped.
    """
    by_label = {label: {row["name"]: row for row in report["subtests"]} for label, report in preferences.items()}
    blind = load(BLIND)
    verdict, solved = blind.solve_sample(texts.sample, selection=selection) if texts.items else (None, {})
    rows = []
    for name, counts in texts.counts.items():
        items = [item for item in texts.items if item.subtest == name]
        probes = blind.beside(len(items), blind.probes)(name, items, solved, counts)
        preferred = {label: rows_by_name[name] for label, rows_by_name in by_label.items()}
        rows.append(row_of(probes, bars[name], preferred, published=name in published))
    if verdict == "fail" and max(bars.values(), default=1.0) <= USUAL_LIMIT and not any(row["solved"] for row in rows):
        # Only all subtests together are enough to tell.
        for row in rows:
            row["solved"] = not row["too_few"]
            row["stopped"] = row["stopped"] or (row["solved"] and row["name"] not in published)
    return GateFinding(rows, verdict)


def row_of(
    probes: Mapping[str, Any], bar: float, preferred: Mapping[str, Mapping[str, Any]], *, published: bool = False
) -> dict[str, Any]:
    """Build the gate's row of one subtest from its probes (a row of the blind report, or its `valid` part)."""
    chance = probes.get("chance", 0.5)
    limit = chance + (bar - 0.5) / 0.5 * (1 - chance)
    solver = _probe("solver", probes["solver_accuracy"], probes["ci"], limit, chance)
    solver["over"] = solver["over"] or (probes["verdict"] == "fail" and bar <= USUAL_LIMIT)
    probes_tried = [solver, *(_language_model(label, row, bar) for label, row in preferred.items())]
    too_few = probes["n_captions"] < MIN_CAPTIONS
    solved = not too_few and any(probe["over"] for probe in probes_tried)
    return {
        "name": probes["name"],
        "bar": bar,
        "n_items": probes["n_items"],
        "n_captions": probes["n_captions"],
        "probes": probes_tried,
        "too_few": too_few,
        "unread": any(probe.get("n_missing") for probe in probes_tried),
        "solved": solved,
        "n_unjudged": probes["n_unjudged"],
        "unjudged": probes["unjudged"],
        "stopped": (solved or probes["n_unjudged"] > 0) and not published,
        "words": probes["words"][:WORDS],
        # Only for a published subtest.
        **({"published": True, "reported": solved or probes["n_unjudged"] > 0} if published else {}),
    }


def _language_model(label: str, row: Mapping[str, Any], bar: float) -> dict[str, Any]:
    probe = _probe(label, row["preference"], row["ci"], bar)
    enough = row["n_captions"] >= MIN_CAPTIONS
    cuts = {name: row[name] for name in ("n_missing", "n_truncated", "n_equal_after_cut")}
    return {**probe, "over": probe["over"] and enough, **cuts}


def _probe(
    name: str, value: float | None, interval: Sequence[float] | None, limit: float, chance: float = 0.5
) -> dict[str, Any]:
    over = value is not None and value > limit and interval is not None and interval[0] > chance
    return {"probe": name, "value": value, "ci": list(interval) if interval else None, "over": over}


def _sentence(row: Mapping[str, Any]) -> str:
    over = ", ".join(f"{probe['probe']} {probe['value']:.0%}" for probe in row["probes"] if probe["over"])
    words = ", ".join(_cue_word_text(word) for word in row["words"])
    cue_sentence = _(" These words give the answer away: %(words)s.") % {"words": words} if words else ""
    solved_sentence = _("%(name)s is solved without the video (%(over)s, the limit is %(bar)s).") % {
        "name": row["name"],
        "over": over,
        "bar": f"{row['bar']:.0%}",
    }
    return solved_sentence + cue_sentence


def _unjudged_sentence(row: Mapping[str, Any]) -> str:
    first = row["unjudged"][0]
    return _(
        "%(name)s cannot be evaluated: %(n)s of its pairs have no words, or the same words in caption and "
        "foil (item %(id)s: '%(caption)s' / '%(foil)s')."
    ) % {
        "name": row["name"],
        "n": row["n_unjudged"],
        "id": first["id"],
        "caption": first["caption"][:MAX_QUOTED],
        "foil": first["foil"][:MAX_QUOTED],
    }


def _cue_word_text(word: Mapping[str, Any]) -> str:
    side = _("captions") if word["weight"] > 0 else _("foils")
    return f"{word['word']} ({side})"
