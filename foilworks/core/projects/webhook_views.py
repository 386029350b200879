"""The pages of a project's webhooks: addresses, deliveries, a test, another try, a new secret."""

from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from foilworks.core.projects.access import get_project
from foilworks.core.projects.actions import webhooks as actions
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.forms.accounts import WebhookForm
from foilworks.core.projects.listing.keyset import Order
from foilworks.core.projects.listing.listing import list_rows
from foilworks.core.projects.models import Delivery, Role, Webhook
from foilworks.core.projects.webhooks.event_type import event_types
from foilworks.core.projects.webhooks.messages import secret_of

DELIVERY_ORDERS = (Order("newest", gettext_lazy("Newest first"), ("id",), descending=True),)


@sensitive_variables()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def webhooks(request: HttpRequest, slug: str) -> HttpResponse:
    """List the webhooks with a form for another one; its secret is shown once, after it was added."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form, webhook, status = WebhookForm(request.POST if request.method == "POST" else None), None, 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                webhook = actions.add_webhook(
                    request.user, project, form.cleaned_data["url"], form.cleaned_data["events"]
                )
                form, status = WebhookForm(), 201
            except ProjectError as error:
                form.add_error("url", str(error))
    return _list_page(request, form, {"made": webhook}, status)


@sensitive_variables()
@never_cache
@require_POST
def rotate_webhook(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Replace the secret, and show the new one once."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    revoked = "revoke" in request.POST
    webhook = actions.rotate_webhook(request.user, project, pk, revoke=revoked)
    return _list_page(request, WebhookForm(), {"made": webhook, "rotated": True, "revoked": revoked}, 200)


@sensitive_variables()
def _list_page(request: HttpRequest, form: WebhookForm, extra_context: dict[str, Any], status: int) -> HttpResponse:
    failed = Count("deliveries", filter=Q(deliveries__state=Delivery.State.FAILED))
    rows = (
        Webhook.objects.filter(project=request.project).annotate(n=Count("deliveries"), n_failed=failed).order_by("pk")
    )
    types_by_name = event_types()
    for hook in rows:
        hook.event_words = [types_by_name[name].words for name in hook.events if name in types_by_name]
    webhook = extra_context["made"]
    context = {"form": form, "hooks": rows, "secret": secret_of(webhook) if webhook else "", **extra_context}
    return render(request, "projects/webhooks.html", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def webhook(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the deliveries of a webhook; POST starts it again after it has stopped."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    hook = actions.webhook_for(request.user, project, pk)
    if request.method == "POST":
        actions.restart_webhook(request.user, project, pk)
        messages.success(request, _("The webhook receives events again."))
        return redirect("projects:webhook", project.slug, pk)
    listing = list_rows(Delivery.objects.filter(webhook=hook), DELIVERY_ORDERS, request.GET, {})
    for row in listing.page.rows:
        event_type = event_types().get(row.event)
        row.words = event_type.words if event_type else row.event
    context = {
        "hook": hook,
        "listing": listing,
        "any": bool(listing.count.n),
        "row_template": "projects/_delivery_row.html",
        "list_name": _("Deliveries"),
    }
    return render(request, "projects/webhook.html", context)


@require_POST
def test_webhook(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Send a test delivery."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    actions.ping_webhook(request.user, project, pk)
    messages.success(request, _("A test delivery is on its way. Reload this page to see the answer."))
    return redirect("projects:webhook", project.slug, pk)


@require_POST
def delete_webhook(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Delete the webhook with its deliveries."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    actions.remove_webhook(request.user, project, pk)
    messages.success(request, _("Webhook deleted."))
    return redirect("projects:webhooks", project.slug)


@require_POST
def retry(request: HttpRequest, slug: str, pk: int, delivery: int) -> HttpResponse:
    """Send a failed delivery again."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    actions.retry_delivery(request.user, project, pk, delivery)
    messages.success(request, _("The delivery is sent again."))
    return redirect("projects:webhook", project.slug, pk)
