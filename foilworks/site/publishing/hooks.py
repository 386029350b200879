"""Withdraw archives when a person is erased; `evaluation.apps` loads this at the start of each process."""

from foilworks.core.projects.personal_data import on_erased
from foilworks.site.publishing.models import PublicPage


def _withdraw_archives(worked: set[int], archived: set[int]) -> None:
    """Withdraw archives that may name the person; the next archive is created without them."""
    PublicPage.objects.filter(release__project__in=worked | archived).update(archive_print="")


on_erased(_withdraw_archives)
