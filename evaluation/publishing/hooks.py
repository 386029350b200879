"""What public pages do when a person is erased; `evaluation.apps` loads this at the start of each process."""

from evaluation.publishing.models import PublicPage
from projects.personal_data import on_erased


def _withdraw_archives(worked: set[int], archived: set[int]) -> None:
    """Offer no archive that may name the person; the next one is made without."""
    PublicPage.objects.filter(release__project__in=worked | archived).update(archive_print="")


on_erased(_withdraw_archives)
