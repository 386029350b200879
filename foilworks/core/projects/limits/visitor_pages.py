"""Declare what each page takes from visitors. The web worker, the files for fronts and the tests read this table."""

from dataclasses import dataclass

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.limits.pace import MIB, SMALL_BODY_BYTES
from foilworks.core.projects.limits.rate_limits import AUDITS, REPORTS_HERE, SCORES_HERE, Limit

SMALLER = _("Upload a smaller file.")


@dataclass(frozen=True)
class VisitorPage:
    """A page that takes a form or a file from visitors.

    `setting`: the setting with the largest file in bytes; empty: a small form. `limit`: requests per network, counted
    before the body is read; None: the page counts failures itself. `advice`: what to do with a larger file.
    """

    setting: str = ""
    limit: Limit | None = None
    advice: str | Promise = SMALLER

    @property
    def max_file_bytes(self) -> int:
        return getattr(settings, self.setting) if self.setting else 0

    @property
    def max_bytes(self) -> int:
        """Largest body in bytes; what surrounds the file in its form is small."""
        return self.max_file_bytes + MIB if self.setting else SMALL_BODY_BYTES


# By the name of the view.
VISITOR_PAGES = {
    "annotation:enter": VisitorPage(),
    "audit": VisitorPage(
        "AUDIT_MAX_BYTES", AUDITS, _("Run `foilworks audit FILE` on your own computer instead: it has no limit.")
    ),
    "projects:join": VisitorPage(),
    "projects:password_new": VisitorPage(),
    "projects:password_reset": VisitorPage(),
    "projects:sign_in": VisitorPage(),
    "projects:sign_in_code": VisitorPage(),
    "projects:sign_in_with_code": VisitorPage(),
    "projects:unsubscribe": VisitorPage(),
    "publishing:public_scores": VisitorPage("SUBMISSION_MAX_BYTES", SCORES_HERE),
    "publishing:report": VisitorPage(limit=REPORTS_HERE),
}
# Pages and operations that take large files from members only.
UPLOAD_PAGES = frozenset(
    {"imports:new_import", "scoring:bring_scores", "api:create_import", "api:list_imports", "api:bring_scores"}
)
