"""Check what a release still needs before it is published: a list of results, each with the page that changes it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from foilworks.core.corpus.export_formats.parts import facts as release_facts
from foilworks.core.corpus.export_formats.parts.documents import unanswered, unanswered_fields
from foilworks.core.corpus.records import ReleaseContent

OK, WARN, FAIL = "ok", "warn", "fail"
# The most urgent first.
LEVELS = (FAIL, WARN, OK)
CITATION, DATASHEET, RELEASE, CONSENT, MENU = (
    "publishing:publication",
    "publishing:datasheet",
    "releases:release",
    "projects:consent",
    "",
)
MAX_NAMED = 8
SECTION = "{title} ({n})"
# The fields of Croissant that people answer in the datasheet, and the sections of the datasheet.
FIELDS = {
    "annotatorDemographics": gettext_lazy("annotators"),
    "dataBiases": gettext_lazy("biases"),
    "dataLimitations": gettext_lazy("limitations"),
    "dataUseCases": gettext_lazy("use cases"),
    "dataSocialImpact": gettext_lazy("social impact"),
    "personalSensitiveInformation": gettext_lazy("personal and sensitive information"),
    "dataReleaseMaintenancePlan": gettext_lazy("maintenance"),
    "dataCollection": gettext_lazy("collection"),
    "dataAnnotationProtocol": gettext_lazy("annotation"),
}
SECTIONS = {
    "motivation": gettext_lazy("motivation"),
    "composition": gettext_lazy("composition"),
    "collection": gettext_lazy("collection"),
    "preprocessing": gettext_lazy("preprocessing"),
    "uses": gettext_lazy("uses"),
    "distribution": gettext_lazy("distribution"),
    "maintenance": gettext_lazy("maintenance"),
}
# Rows about authors, which an anonymised copy leaves out.
ABOUT_AUTHORS = frozenset({"title", "authors", "contact", "citation"})
Facts = Mapping[str, Any]
Result = tuple[str, str]


@dataclass(frozen=True)
class Row:
    """`level`: ok, warn or fail. `page`: URL name of the page that changes it; "" if none does."""

    slug: str
    what: str
    level: str
    why: str
    page: str = ""

    @property
    def page_name(self) -> str:
        """Return the title of the page, for its link."""
        names = {CITATION: _("Citation and licences"), DATASHEET: _("Datasheet"), CONSENT: _("Consent")}
        return names.get(self.page, _("Release"))


def facts_of(release: ReleaseContent) -> dict[str, Any]:
    """Return what the checklist looks at, as JSON: it can be stored, whatever language it is shown in."""
    facts = release_facts.facts_of(release)
    cited, known, gate = facts["cited"], facts["known"], facts["gate"]
    return {
        "title": cited["title"],
        "authors": len(cited["authors"]),
        "contact": bool(cited["contact"]),
        "cited": bool(cited["doi"] or cited["url"]),
        "licence": cited["licence"] or cited["licence_url"],
        "licence_is_known": facts["licence"] is not None,
        "sources": [
            {
                "name": source["dataset"],
                "stated": bool(source["licence"] or source["url"]),
                "may_show": source["may_show"],
                "n": source["n_videos"],
            }
            for source in facts["sources"]
        ],
        "rai": {name: list(slugs) for name, slugs in unanswered_fields(facts).items()},
        "questions": [question.slug for question in unanswered(facts)],
        "gate": gate and {"stopped": _names(gate, "stopped"), "few": _names(gate, "too_few")},
        "n_items": facts["n_released"],
        "n_withheld": len(facts["withheld"]),
        **{name: facts[name] for name in ("n_as_published", "n_extra", "simulated")},
        "n_warned": known.get("n_warned"),
        "consent": known.get("consent_version"),
        "n_workers": known.get("n_workers", 0),
        "n_agreed": known.get("n_agreed", 0),
    }


def _names(gate: Facts, key: str) -> list[str]:
    return [row["name"] for row in gate["rows"] if row.get(key)]


def checklist(facts: Facts, *, anonymous: bool = False) -> list[Row]:
    """Return the rows in the order in which a person works through them."""
    rows = [Row(slug, what, *check(facts), page) for slug, what, check, page in _checks()]
    return [row for row in rows if not (anonymous and row.slug in ABOUT_AUTHORS)]


def is_red(rows: Sequence[Row]) -> bool:
    return any(row.level == FAIL for row in rows)


def _checks() -> Iterator[tuple[str, str, Callable[[Facts], Result], str]]:
    yield "items", _("Items"), _items, RELEASE
    yield "title", _("Title"), _title, CITATION
    yield "authors", _("Authors"), _authors, CITATION
    yield "contact", _("Contact"), _contact, CITATION
    yield "citation", _("DOI or address"), _citation, CITATION
    yield "licence", _("Licence of the texts"), _licence, CITATION
    yield "sources", _("Terms of the sources"), _sources, CITATION
    yield "videos", _("Videos"), _videos, CITATION
    yield "rai", _("Responsible-AI fields"), _rai, DATASHEET
    yield "questions", _("Datasheet"), _questions, DATASHEET
    yield "blind", _("Blind audit"), _blind, RELEASE
    yield "as_published", _("Published items"), _as_published, RELEASE
    yield "warnings", _("Content warnings"), _warnings, MENU
    yield "consent", _("Consent"), _consent, CONSENT
    yield "simulated", _("Simulated people"), _simulated, MENU
    yield "extra", _("Extra fields"), _extra, RELEASE


def _items(facts: Facts) -> Result:
    n, withheld = facts["n_items"], facts["n_withheld"]
    if not n:
        return FAIL, _("The release has no items.")
    said = ngettext("%(n)s item.", "%(n)s items.", n) % {"n": n}
    if withheld:
        said += " " + _("%(n)s more are withheld because their videos were taken down.") % {"n": withheld}
    return (WARN if withheld else OK), said


def _title(facts: Facts) -> Result:
    return (OK, facts["title"]) if facts["title"] else (WARN, _("None. The name of the project is used."))


def _authors(facts: Facts) -> Result:
    n = facts["authors"]
    return (OK, ngettext("%(n)s author.", "%(n)s authors.", n) % {"n": n}) if n else (FAIL, _("None is named."))


def _contact(facts: Facts) -> Result:
    return (OK, _("Stated.")) if facts["contact"] else (FAIL, _("None. Readers cannot report errors."))


def _citation(facts: Facts) -> Result:
    return (OK, _("Stated.")) if facts["cited"] else (WARN, _("None. A citation has no link."))


def _licence(facts: Facts) -> Result:
    if not facts["licence"]:
        return FAIL, _("Not stated. Without a licence, nobody may use the data.")
    if not facts["licence_is_known"]:
        said = _("“%(name)s” is not a licence that the Hub and Zenodo list. The card names it as it is.")
        return WARN, said % {"name": facts["licence"]}
    return OK, facts["licence"]


def _sources(facts: Facts) -> Result:
    missing = [each["name"] or _("no named data set") for each in facts["sources"] if not each["stated"]]
    if missing:
        return FAIL, _("Not stated for: %(names)s.") % {"names": _listed(missing)}
    n = len(facts["sources"])
    return OK, ngettext("Stated for %(n)s source.", "Stated for %(n)s sources.", n) % {"n": n}


def _videos(facts: Facts) -> Result:
    unnamed = sum(each["n"] for each in facts["sources"] if not each["name"] and not each["may_show"])
    if unnamed:
        said = _("%(n)s videos name no data set and may not be copied: readers cannot find them.")
        return WARN, said % {"n": unnamed}
    shown = [each["name"] for each in facts["sources"] if each["may_show"]]
    if shown:
        said = _("Pages may show videos of: %(names)s. Check that their terms allow copies, too.")
        return WARN, said % {"names": _listed(shown)}
    return OK, _("Pointers to the sources only.")


def _rai(facts: Facts) -> Result:
    missing = [str(FIELDS[name]) for name in facts["rai"]]
    if missing:
        return FAIL, _("The datasheet does not answer: %(names)s.") % {"names": ", ".join(missing)}
    return OK, _("All are answered.")


def _questions(facts: Facts) -> Result:
    missing = facts["questions"]
    if not missing:
        return OK, _("All questions are answered.")
    counts = Counter(slug.partition(".")[0] for slug in missing)
    names = [SECTION.format(title=title, n=counts[slug]) for slug, title in SECTIONS.items() if counts[slug]]
    said = ngettext("%(n)s question is open: %(names)s.", "%(n)s questions are open: %(names)s.", len(missing))
    return WARN, said % {"n": len(missing), "names": _listed(names)}


def _blind(facts: Facts) -> Result:
    gate = facts["gate"]
    if gate is None:
        return FAIL, _("None was made when the release was frozen.")
    if gate["stopped"]:
        said = _("Released although a model solves them without the video: %(names)s.")
        return WARN, said % {"names": _listed(gate["stopped"])}
    if gate["few"]:
        return WARN, _("Too few captions for a result: %(names)s.") % {"names": _listed(gate["few"])}
    return OK, _("No subtest is solved without the video.")


def _as_published(facts: Facts) -> Result:
    n = facts["n_as_published"]
    if not n:
        return OK, _("None: votes decided on every item.")
    said = _(
        "%(n)s of %(all)s items count as valid because others published them. Check that you may redistribute them."
    )
    return WARN, said % {"n": n, "all": facts["n_items"]}


def _warnings(facts: Facts) -> Result:
    n = facts["n_warned"]
    if not n:
        return OK, _("No video has one.")
    return WARN, ngettext("%(n)s video has one.", "%(n)s videos have one.", n) % {"n": n}


def _consent(facts: Facts) -> Result:
    n = facts["n_workers"]
    if not n:
        return OK, _("Nobody has worked on these items here.")
    if not facts["consent"]:
        return FAIL, _("The project has no consent text, but people worked on the items.")
    if facts["n_agreed"] < n:
        said = _("%(agreed)s of %(n)s people agreed to the consent text. Researchers are not asked.")
        return WARN, said % {"agreed": facts["n_agreed"], "n": n}
    return OK, _("All people who worked on the items agreed.")


def _simulated(facts: Facts) -> Result:
    if facts["simulated"]:
        return FAIL, _("The people and judgements are simulated. This release shows the software, not a result.")
    return OK, _("None.")


def _extra(facts: Facts) -> Result:
    n = facts["n_extra"]
    if not n:
        return OK, _("None.")
    said = ngettext(
        "%(n)s item has fields of the imported file. Check that they name nobody.",
        "%(n)s items have fields of the imported file. Check that they name nobody.",
        n,
    )
    return WARN, said % {"n": n}


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MAX_NAMED])
    rest = len(names) - MAX_NAMED
    return shown if rest <= 0 else _("%(names)s and %(n)s more") % {"names": shown, "n": rest}
