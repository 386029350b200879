"""Find what pages take from visitors. The web worker, the files for fronts and the tests read these tables."""

from collections.abc import Mapping

from foilworks.core.projects.limits.visitor_page import UploadPage, VisitorPage
from foilworks.core.rooms import declared


def visitor_pages() -> Mapping[str, VisitorPage]:
    """Return the pages of all rooms that take a form or a file from visitors, by the name of the view."""
    return declared("VISITOR_PAGES")


def upload_pages() -> Mapping[str, UploadPage]:
    """Return the pages and operations of all rooms that take large files from members only."""
    return declared("UPLOAD_PAGES")
