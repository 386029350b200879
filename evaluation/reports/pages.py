"""Build what the report pages show: stored reports, people under pseudonyms, charts and tables."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.messages import REASONS
from annotation.models import ObjectErrorClass, ReviewDecision
from annotation.queries.object_checks import checks_of
from evaluation.analyses.analysis_inputs import CODINGS as CODED
from evaluation.analyses.registry import BY_JOB, REPORTS
from evaluation.errors import EvaluationError
from evaluation.facts.item_names import items_of
from evaluation.reports.beside import beside, lacks_beside
from evaluation.reports.blind_audit import extras as blind_extras
from evaluation.reports.certificate import COLUMNS as CERTIFICATE_COLUMNS
from evaluation.reports.certificate import extras as certificate_extras
from evaluation.reports.fair_set import COLUMNS as FAIR_COLUMNS
from evaluation.reports.fair_set import extras as fair_extras
from evaluation.reports.plugin_page import rows_of_any, tables_of_any
from evaluation.reports.pseudonyms import under_pseudonyms
from evaluation.reports.reports import by_job, project_report, stored_report
from foilworks.core.projects.models import Project
from foilworks.core.projects.templatetags.wording import in_words

WORDS_IN_ALT = 10
VERBS_IN_ALT = 5

Data = dict[str, Any]
Row = list[Any]


@dataclass(frozen=True)
class ReportPage:
    """One report that has a page. `rows`: its main table, header first, for the CSV."""

    slug: str
    title: str | Promise
    rows: Callable[[Data], list[Row]]
    charts: tuple[str, ...] = ()
    # Further template variables: (project, subtest, data) -> dict.
    extras: Callable[[Project, str, Data], Data] | None = None
    # Of a report of a plug-in, its summary: one template shows any.
    summary: str = ""

    @property
    def template(self) -> str:
        return f"evaluation/report_{'of_plugin' if self.summary else self.slug}.html"

    @property
    def always_by_job(self) -> bool:
        """Report whether it needs a model library: its own template shows the job."""
        return self.slug in BY_JOB

    def by_job(self, project: Project) -> bool:
        """Report whether a job computes it: the page then shows the stored report, and the progress of the job."""
        return by_job(project, self.slug)

    def context(self, project: Project, subtest: str, params: Mapping[str, Any]) -> Data:
        """Return `data` and the extras of this page. EvaluationError if there is nothing to report on yet."""
        if self.by_job(project):
            stored = stored_report(project, self.slug, subtest or None, params)
            if stored.is_large and lacks_beside(project, self.slug, subtest):
                stored = replace(stored, data=None, is_stale=True)
            data = under_pseudonyms(project, stored.data) if stored.data else None
            extras = self.extras(project, subtest, data) if data and self.extras else {}
            return {"stored": stored, "data": data, **extras}
        data = report_data(project, self.slug, subtest, params)
        return {"data": data, **(self.extras(project, subtest, data) if self.extras else {})}


def report_data(project: Project, kind: str, subtest: str, params: Mapping[str, Any]) -> Data:
    """Return the report with people under the pseudonyms of releases and exports; empty `subtest`: all main items.

    EvaluationError: nothing to report on yet, or a report of a job that nobody has requested.
    """
    if by_job(project, kind):
        data = stored_report(project, kind, subtest or None, params).data
        if data is None:
            raise EvaluationError(_("This report is not computed yet. Compute it on its page, or by POST."))
        return under_pseudonyms(project, data)
    return under_pseudonyms(project, project_report(project, kind, subtest=subtest or None, params=params))


def _columns_of(key: str, *columns: str) -> Callable[[Data], list[Row]]:
    """Return what makes a table of the rows at `key`, header first."""
    return lambda data: [list(columns), *([row[column] for column in columns] for row in data[key])]


PEOPLE_COLUMNS = ("person", "stage", "simulated", "n", "n_counted", "n_late", "median_seconds", "median_covered")
VALIDATION_COLUMNS = (
    "name",
    "test",
    "n_items",
    "n_valid",
    "n_unanimous",
    "n_valid_proficiency",
    "n_both",
    "n_lexical_items",
    "js_all",
    "js_valid",
    "alpha_all",
    "alpha_valid",
    "alpha_coding",
)


def _validation_rows(data: Data) -> list[Row]:
    rows = [*data["subtests"], data["overall"]]
    return [list(VALIDATION_COLUMNS), *([row[column] for column in VALIDATION_COLUMNS] for row in rows)]


def _agreement_rows(data: Data) -> list[Row]:
    pairs = [[*row["annotators"], row["n"], row["agreement"]] for row in data["pairs"]]
    return [["annotator", "other", "n", "agreement"], *pairs]


def _irt_rows(data: Data) -> list[Row]:
    """Return a row per item, with the bounds of the intervals."""
    bounds = ("low", "high")
    header: Row = ["item", "n", "share_right", "difficulty", *bounds, "slope", *bounds, "kind"]
    rows = [
        [*(row[name] for name in header[:4]), *row["difficulty_ci"], row["slope"], *row["slope_ci"], row["kind"]]
        for row in data["items"]
    ]
    return [header, *rows]


def _numbers_rows(data: Data) -> list[Row]:
    return [["number", "count", "share"], *([row["group"], row["count"], row["share"]] for row in data["rows"])]


def _blind_rows(data: Data) -> list[Row]:
    columns = [
        "n_items",
        # Exports before 0.4, which are verified, have the other.
        "solver_accuracy" if "solver_accuracy" in data["overall"] else "classifier_accuracy",
        "low",
        "high",
        "fitted_accuracy",
        "caption_longer",
        "js",
        "n_lexical_items",
    ]
    rows = []
    for row in [*data["subtests"], data["overall"]]:
        item_sets = [("all", row), *([("valid", row["valid"])] if row["valid"] else [])]
        for item_set, set_row in item_sets:
            low, high = _bounds(set_row["ci"])
            bounds = {"low": low, "high": high}
            rows.append([row["name"], item_set, *(bounds.get(column, set_row.get(column)) for column in columns)])
    return [["name", "part", *columns], *rows]


def _filter_rows(data: Data) -> list[Row]:
    header = ["filter", "n_good", "n_bad", "precision_now", "recall_now", "threshold", "precision", "recall", "auc"]
    rows: list[Row] = []
    for row in data["filters"]:
        fitted = row["fitted"] or {"precision": None, "recall": None}
        now = row["now"]
        rows.append(
            [
                row["filter"],
                row["n_good"],
                row["n_bad"],
                now["precision"],
                now["recall"],
                row["threshold"],
                fitted["precision"],
                fitted["recall"],
                row["auc"],
            ]
        )
    return [header, *rows]


SCREENING_COLUMNS = (
    "model",
    "threshold",
    "n",
    "n_rejected",
    "n_sampled",
    "n_accepted_judged",
    "n_rejected_judged",
    "sent",
    "precision",
    "recall",
    "invalid_rejected",
    "lost",
    "saved",
)


def _screening_rows(data: Data) -> list[Row]:
    """Return a line per model at the threshold of its run, then a line per threshold of its curve."""
    header = [*SCREENING_COLUMNS, "recall_low", "recall_high", "lost_low", "lost_high", "saved_low", "saved_high"]
    rows: list[Row] = [header]
    for judge in data["judges"]:
        for point in (judge, *({"model": judge["model"], **point} for point in judge["curve"])):
            ends = [end for name in ("recall", "lost", "saved") for end in _bounds(point[f"{name}_ci"])]
            rows.append([*(point.get(column) for column in SCREENING_COLUMNS), *ends])
    return rows


def _screening_extras(_project: Project, _subtest: str, data: Data) -> Data:
    return {"has_curve": any(row["curve"] for row in data["judges"])}


def _objects_extras(project: Project, _subtest: str, data: Data) -> Data:
    """Return labels of the classes and the checks; each check with its page."""
    words = dict(ObjectErrorClass.choices)
    sources = {str(row.check.pk): row.check for row in checks_of(project)}
    checks = [{**row, "check": sources.get(row["name"])} for row in data["checks"]]
    return {"classes": [{**row, "words": words[row["class"]]} for row in data["classes"]], "rows": checks}


def _bounds(interval: list[float] | None) -> list[float | None]:
    return list(interval) if interval else [None, None]


def _validation_extras(_project: Project, _subtest: str, data: Data) -> Data:
    rows = [row for row in data["subtests"] if sum(row["votes"].values())]
    return {
        "rows": [*data["subtests"], data["overall"]],
        "has_proficiency": any(row["proficiency"] for row in data["subtests"]),
        "votes_alt": "; ".join(f"{row['name']}: {_spoken(row['votes'])}" for row in rows),
    }


def _spoken(votes: Mapping[str, int]) -> str:
    total = sum(votes.values())
    return ", ".join(f"{in_words(choice)} {n / total:.0%}" for choice, n in votes.items())


def _agreement_extras(project: Project, subtest: str, data: Data) -> Data:
    """Return the same votes under every coding that they support, and the position bias."""
    if not data["n_votes"]:
        raise EvaluationError(_("No votes yet. Agreement appears here after validators have voted."))
    skill = stored_report(project, "skill", subtest or None, {})
    skill_by_annotator = (
        {row["annotator"]: row for row in under_pseudonyms(project, skill.data)["annotators"]} if skill.data else {}
    )
    annotators = [{**row, "skill": skill_by_annotator.get(row["annotator"])} for row in data["annotators"]]
    # A report of a large project may have been stored by an older version.
    without_clip = sorted(data.get("without_clip", {}).items())
    unseen = [{**row, "name": name or _("All items")} for name, row in without_clip if name or len(without_clip) > 2]
    return {**beside(project, "agreement", subtest), "skill": skill, "validators": annotators, "unseen": unseen}


# Labels of the methods.
METHODS = {"majority": _("Majority"), "dawid_skene": "Dawid-Skene"}
MAX_DIFFERING = 100


def _skill_extras(project: Project, _subtest: str, data: Data) -> Data:
    """Return tables in the order of the coding's categories, labels of choices, pairs with the page of their item."""
    categories = CODED[data["coding"]]
    verdicts = [
        (METHODS[row["method"]], [row[category] for category in categories], row)
        for row in data["verdicts"]
        # Reports that version 0.3 stored also have a row of MACE.
        if row["method"] in METHODS
    ]
    listed_rows = data["differing"][:MAX_DIFFERING]
    items = items_of(project, [row["unit"] for row in listed_rows])
    differing = [
        {
            **row,
            **{name: _worded(row[name]) for name in METHODS},
            "counts": ", ".join(f"{_worded(choice)} {n}" for choice, n in row["votes"].items()),
            "item": items.get(row["unit"]),
        }
        for row in listed_rows
    ]
    return {"categories": [_worded(name) for name in categories], "verdicts": verdicts, "differing": differing}


# What the interval of an item's discrimination shows.
KINDS = {
    "separates": _("separates"),
    "reversed": _("reversed"),
    "noise": _("noise"),
    "unclear": _("unclear"),
}


def _irt_extras(_project: Project, _subtest: str, data: Data) -> Data:
    """Return labels of the kinds of items, the listed items, and the models or people."""
    rows = [{**row, "said": KINDS[row["kind"]]} for row in data["items"][:MAX_DIFFERING]]
    return {
        "kinds": [(KINDS[kind], n) for kind, n in data["kinds"].items()],
        "listed": rows,
        "respondents": data.get("models") or data.get("annotators"),
    }


def _worded(choice: str | None) -> str:
    return choice.replace("_", " ") if choice else "–"


def _numbers_extras(_project: Project, _subtest: str, data: Data) -> Data:
    counted_rows = [row for row in data["rows"] if row["count"]]
    return {"numbers_alt": "; ".join(f"{in_words(row['group'])}: {row['share']:.1%}" for row in counted_rows)}


def _verbs_extras(_project: Project, _subtest: str, data: Data) -> Data:
    descriptions = []
    for source in (source for source, n in data["total"].items() if n):
        most = sorted(data["rows"], key=lambda row: -row[source])[:VERBS_IN_ALT]
        descriptions.append(f"{source}: " + ", ".join(f"{row['verb']} {row[source]:.0%}" for row in most))
    return {"verbs_alt": "; ".join(descriptions), "has_both": all(data["total"].values())}


def _reviewing_extras(_project: Project, _subtest: str, data: Data) -> Data:
    """Return labels of the decisions and of their reasons."""
    labels = {decision.value: decision.label for decision in ReviewDecision}
    return {
        "decisions": [(labels[name], n) for name, n in data["decisions"].items()],
        "reasons": [(REASONS.get(code, code), n) for code, n in data["reasons"].items()],
        "crossed": [(labels[row["first"]], [row[name] for name in labels]) for row in data["table"]],
        "decided": list(labels.values()),
    }


def _divergence_extras(_project: Project, _subtest: str, data: Data) -> Data:
    shifts = [row for row in data["top_shifts"] if row["shift"]]
    alt = "; ".join(f"{row['word']} {row['shift']:+.1%}" for row in shifts[:WORDS_IN_ALT])
    return {"shifts": shifts, "words_alt": alt}


_PAGES: dict[str, ReportPage] = {
    page.slug: page
    for page in (
        ReportPage("validation", _("Validation"), _validation_rows, ("votes",), _validation_extras),
        ReportPage("agreement", _("Agreement"), _agreement_rows, extras=_agreement_extras),
        ReportPage(
            "skill",
            _("Validator skill"),
            _columns_of("annotators", "annotator", "n_votes", "agreement", "dawid_skene"),
            extras=_skill_extras,
        ),
        ReportPage("irt", _("Item response"), _irt_rows, extras=_irt_extras),
        ReportPage(
            "divergence",
            _("Divergence"),
            _columns_of("top_shifts", "word", "caption_share", "foil_share", "shift"),
            ("words",),
            _divergence_extras,
        ),
        ReportPage("blind", _("Blind audit"), _blind_rows, ("solved",), blind_extras),
        ReportPage(
            "certificate", _("Certificate"), _columns_of("item_scores", *CERTIFICATE_COLUMNS), extras=certificate_extras
        ),
        ReportPage("fair", _("Fair set"), _columns_of("items", *FAIR_COLUMNS), extras=fair_extras),
        ReportPage("filters", _("Filters"), _filter_rows),
        ReportPage("screening", _("Screening"), _screening_rows, ("saved",), _screening_extras),
        ReportPage(
            "reviewing",
            _("Review"),
            _columns_of("people", "person", "n", "accept", "send_back", "drop", "fix"),
            extras=_reviewing_extras,
        ),
        ReportPage("people", _("People"), _columns_of("people", *PEOPLE_COLUMNS)),
        ReportPage(
            "objects",
            _("Object check"),
            _columns_of("classes", "class", "n", "share_of_unseen", "share"),
            extras=_objects_extras,
        ),
        ReportPage("numbers", _("Number words"), _numbers_rows, ("numbers",), _numbers_extras),
        ReportPage("verbs", _("Verbs"), _columns_of("rows", "verb", "machine", "person"), ("verbs",), _verbs_extras),
    )
}


class _Pages(Mapping[str, ReportPage]):
    """Our own pages, then one for each report of a plug-in; those are read when the table is first used."""

    def __getitem__(self, slug: str) -> ReportPage:
        if slug in _PAGES or not REPORTS[slug].origin:
            return _PAGES[slug]
        return ReportPage(slug, REPORTS[slug].label, rows_of_any, extras=tables_of_any, summary=REPORTS[slug].summary)

    def __iter__(self) -> Iterator[str]:
        yield from _PAGES
        yield from (slug for slug, entry in REPORTS.items() if entry.origin)

    def __len__(self) -> int:
        return sum(1 for _slug in self)


PAGES: Mapping[str, ReportPage] = _Pages()
