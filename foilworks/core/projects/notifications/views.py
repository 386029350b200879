"""The pages of a person's notifications: the list, what they chose, and the end of the mails."""

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from foilworks.core.projects.demo_accounts import NO_NOTIFICATIONS, refuse_published, why_closed
from foilworks.core.projects.listing.keyset import Order
from foilworks.core.projects.listing.listing import list_rows
from foilworks.core.projects.models import Membership, Notification
from foilworks.core.projects.notifications.actions import mark_read, save_settings, stop_mail
from foilworks.core.projects.notifications.forms import NotificationFilter, NotificationSettingsForm
from foilworks.core.projects.notifications.kinds import sentence, target
from foilworks.core.projects.notifications.mail import is_ready, person_of
from foilworks.core.projects.notifications.queries import notifications_of, projects_of, settings_of

ORDERS = (Order("newest", gettext_lazy("Newest first"), ("id",), descending=True),)


@never_cache
@require_safe
def notifications(request: HttpRequest) -> HttpResponse:
    """List the person's notifications, newest first."""
    form = NotificationFilter(request.GET, projects_of(request.user), is_open="open" in request.GET)
    if form.is_open:
        return render(request, "foilworks/_folded_filters.html", {"form": form})
    filters, rows = form.chosen(), notifications_of(request.user)
    if filters.get("unread"):
        rows = rows.filter(read_at=None)
    if slug := filters.get("project"):
        rows = rows.filter(project__slug=slug)
    listing = list_rows(rows, ORDERS, request.GET, filters, _with_project)
    for row in listing.page.rows:
        row.words = sentence(row)
    context = {
        "form": form,
        "listing": listing,
        "any": bool(listing.page.rows or filters or request.GET.get("after")),
        "row_template": "projects/_notification_row.html",
        "list_name": _("Notifications"),
    }
    return render(request, "projects/notifications.html", context)


def _with_project(rows: QuerySet[Notification]) -> QuerySet[Notification]:
    return rows.select_related("project")


@never_cache
@require_safe
def notification(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark the notification as read, and redirect to the page that it is about."""
    stored_notification = get_object_or_404(_with_project(notifications_of(request.user)), pk=pk)
    mark_read(request.user, stored_notification.pk)
    return redirect(target(stored_notification))


@require_POST
def read_all(request: HttpRequest) -> HttpResponse:
    if n := mark_read(request.user):
        words = ngettext("%(n)s notification marked as read.", "%(n)s notifications marked as read.", n)
        messages.success(request, words % {"n": n})
    return redirect("projects:notifications")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def notification_settings(request: HttpRequest) -> HttpResponse:
    """Show what the person chose; POST stores it."""
    roles = set(Membership.objects.filter(person=request.user, project__deleted_at=None).values_list("role", flat=True))
    form = NotificationSettingsForm(
        settings_of(request.user), roles, request.POST if request.method == "POST" else None
    )
    if request.method == "POST" and form.is_valid():
        refuse_published(request.user, NO_NOTIFICATIONS)
        channels = {slug: form.cleaned_data[slug] for slug in form.kinds}
        save_settings(request.user, form.cleaned_data["mail"], channels)
        messages.success(request, _("Saved."))
        return redirect("projects:notification_settings")
    context = {
        "form": form,
        "closed": why_closed(request.user, NO_NOTIFICATIONS),
        "sends_mail": is_ready(),
    }
    return render(request, "projects/notification_settings.html", context, status=422 if form.errors else 200)


@csrf_exempt
@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """Show one button; POST ends the mails, also for a mail program that has no session (RFC 8058)."""
    person_id = person_of(token)
    if request.method == "POST":
        stop_mail(person_id)
    return render(request, "projects/unsubscribe.html", {"is_done": request.method == "POST"})
