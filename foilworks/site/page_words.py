"""Name what people look for on a page of the menus, so that the search finds the page by it."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.site.navigation import RESEARCHERS, Page

# Name of a page -> its subjects, which its label does not say.
SUBJECTS: dict[str, Promise] = {
    "annotation:crowd": _("Prolific, places, completion codes"),
    "annotation:guidelines": _("instructions for annotators, reviewers and validators"),
    "annotation:people": _("roles, team, accounts"),
    "annotation:assignments": _("quotas, due dates, teams"),
    "annotation:people_pay": _("pay rates, cost"),
    "annotation:project_settings": _("name, description, rules of the work, undo, archive, delete"),
    "annotation:quality": _("gold pairs, qualification, practice, paused validators"),
    "annotation:studies": _("human baseline, choices without the clip, object check"),
    "corpus:subtests": _("votes per pair, vote rules, proficiency"),
    "generation:runs": _("foils, methods, filters, thresholds"),
    "imports:new_import": _("upload of files, CSV tables, videos"),
    "projects:invitations": _("links for a team"),
    "projects:trail": _("history: who changed what, and when"),
    "projects:webhooks": _("events, deliveries"),
    "releases:releases": _("freeze, export, download, public page, leaderboard, scores of models"),
    "reports:reports": _("agreement, alpha, blind audit, validation"),
}
# Pages that are one step from the menus.
BESIDE: tuple[tuple[Page, Promise], ...] = (
    (
        Page(_("Citation and licences"), "publishing:publication", RESEARCHERS),
        _("authors, licence, BibTeX, DOI, videos on the public page"),
    ),
)
