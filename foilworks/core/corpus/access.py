"""Getters of videos and their captions; rows of another project do not exist for anyone who asks."""

from django.utils.translation import gettext as _

from foilworks.core.corpus.models import Release, Video
from foilworks.core.corpus.video_files.player import read_clip_token
from foilworks.core.projects.access import get_row, or_404
from foilworks.core.projects.models import Role, User


def get_video(person: User, slug: str, pk: int, *roles: str) -> Video:
    """The video of the project `slug` for a person who holds one of `roles` (any role when none is named) in it."""
    return get_row(Video.objects.select_related("project"), person, slug, *roles, pk=pk)


def get_clip(person: User, slug: str, token: str) -> Video:
    """Return the video that this person's token names (player.py); Http404 for anything else."""
    pk = or_404(read_clip_token(token, person.pk), _("Video not found. Reload the page."))
    return get_video(person, slug, pk)


def get_release(person: User, slug: str, pk: int) -> Release:
    return get_row(Release.objects.select_related("project", "created_by"), person, slug, Role.RESEARCHER, pk=pk)
