"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.limits.visitor_page import UploadPage

UPLOAD_PAGES = {
    "api:create_import": UploadPage(_("records and their videos")),
    "api:list_imports": UploadPage(_("records and their videos")),
    "api:bring_scores": UploadPage(_("scores of a release")),
}
