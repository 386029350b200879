"""Say what a page takes from visitors and from members.

Each room declares its own pages: VISITOR_PAGES, UPLOAD_PAGES.
"""

from dataclasses import dataclass

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.limits.pace import MIB, SMALL_BODY_BYTES
from foilworks.core.projects.limits.rate_limits import Limit

SMALLER = _("Upload a smaller file.")


@dataclass(frozen=True)
class UploadPage:
    """A page or operation that takes large files from members only. `takes`: what, in words.

    `setting`: the setting with the largest sum of its files in bytes. `part_bytes`: bytes per request where a file is
    in parts. `hours`: how long a file that nobody continues is stored in FILE_UPLOAD_TEMP_DIR.
    """

    takes: str | Promise
    setting: str = "UPLOAD_MAX_BYTES"
    part_bytes: int = 0
    hours: int = 24

    @property
    def max_bytes(self) -> int:
        return int(getattr(settings, self.setting))


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
