"""A researcher sets the warning shown before a clip plays; an empty text removes it."""

from django.db import transaction
from django.utils.translation import gettext as _

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.models import Video
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role, User

MAX_WARNING_LENGTH = 300


@transaction.atomic
def set_content_warning(person: User, video: Video, text: str) -> Video:
    """CorpusError: the text is longer than people read before a clip."""
    require_role(person, video.project, Role.RESEARCHER)
    warning = " ".join(text.split())
    if len(warning) > MAX_WARNING_LENGTH:
        raise CorpusError(
            _("A content warning can have at most %(most)d characters. Shorten it.") % {"most": MAX_WARNING_LENGTH}
        )
    Video.objects.filter(pk=video.pk).update(content_warning=warning)
    video.content_warning = warning
    audit.record(audit.event(video.project, person, "corpus.set_content_warning", video, warning=warning))
    return video
