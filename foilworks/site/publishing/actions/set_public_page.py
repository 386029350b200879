"""Open or close the public page of a release, change its address, and request its archive."""

from django.db import transaction
from django.utils.translation import gettext as _

from foilworks.core.corpus.models import Release
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role, User
from foilworks.site.publishing.models import PublicPage, new_key

JOB = "publishing.build_archive"


def page_of(release: Release) -> PublicPage:
    """Return its row, or an unsaved closed one."""
    return PublicPage.objects.filter(release=release).first() or PublicPage(release=release)


@transaction.atomic
def set_public_page(
    person: User, release: Release, *, is_open: bool, offers_export: bool, takes_scores: bool, lists_items: bool = True
) -> PublicPage:
    """Set what strangers see of the release, and create an archive if the page opens without one.

    The archive provides what people said about the items; the page shows it as of that moment. AccessDenied without the
    researcher's role.
    """
    require_role(person, release.project, Role.RESEARCHER)
    wishes = {
        "is_open": is_open,
        "lists_items": lists_items,
        "offers_export": offers_export,
        "takes_scores": takes_scores,
    }
    page, _made = PublicPage.objects.select_for_update(no_key=True).update_or_create(
        release=release, defaults={**wishes, "opened_by": person}
    )
    audit.record(audit.event(release.project, person, "evaluation.set_public_page", page, release=release.pk, **wishes))
    if is_open and not page.archive and page.job_id is None:
        _ask(page)
    return page


@transaction.atomic
def renew_address(person: User, release: Release) -> PublicPage:
    """Create another key: the old address no longer works."""
    require_role(person, release.project, Role.RESEARCHER)
    page, _made = PublicPage.objects.select_for_update(no_key=True).get_or_create(release=release)
    page.key = new_key()
    page.save(update_fields=["key", "changed_at"])
    audit.record(audit.event(release.project, person, "evaluation.renew_address", page, release=release.pk))
    return page


@transaction.atomic
def request_archive(person: User, release: Release) -> PublicPage:
    """Queue a job that creates the archive again from the current data."""
    require_role(person, release.project, Role.RESEARCHER)
    page, _made = PublicPage.objects.select_for_update(no_key=True).get_or_create(release=release)
    if page.job is None or page.job.is_over:
        _ask(page)
        audit.record(audit.event(release.project, person, "evaluation.ask_archive", page, release=release.pk))
    return page


def _ask(page: PublicPage) -> None:
    project = page.release.project
    title = _("Archive of %(release)s") % {"release": page.release.name}
    page.job = enqueue(JOB, page.pk, queue="default", title=title, project_id=project.pk)
    page.save(update_fields=["job", "changed_at"])
