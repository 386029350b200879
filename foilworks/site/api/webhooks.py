"""Manage webhooks: addresses that receive a project's events, and their deliveries."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema, Status

from foilworks.core.projects.access import get_project
from foilworks.core.projects.actions import webhooks as actions
from foilworks.core.projects.models import Delivery, Role, Webhook
from foilworks.core.projects.webhooks.event_type import event_types
from foilworks.core.projects.webhooks.messages import secret_of
from foilworks.site.api.answers import reads, writes
from foilworks.site.api.idempotency import once
from foilworks.site.api.paging import Listed, Page, page_of
from foilworks.site.api.shapes import Line, Slug

router = Router(tags=["webhooks"])
Event = Literal[tuple(event_types())]


class WebhookIn(Schema):
    url: Line
    events: list[Event] = Field(min_length=1, max_length=20)


class RotationIn(Schema):
    revoke: bool = Field(default=False, description="end the old secret now instead of in 24 hours")


class WebhookOut(Schema):
    """`stopped_at`: deliveries have stopped after failing for too long; delete the webhook and create it again."""

    id: int
    url: str
    events: list[str]
    created_at: datetime
    stopped_at: datetime | None


class WebhookMade(WebhookOut):
    secret: str | None = Field(description="secret that signs the messages; returned once")


class WebhooksAsked(Listed):
    order: Literal["id", "-id"] = "id"


class DeliveryOut(Schema):
    id: int
    event: str
    state: str
    attempts: int
    answer_status: int | None
    problem: str
    next_at: datetime
    created_at: datetime


class DeliveriesAsked(Listed):
    order: Literal["id", "-id"] = "-id"
    state: Literal["waiting", "delivered", "failed"] | None = None


def webhook_out(hook: Webhook) -> dict[str, Any]:
    return {name: getattr(hook, name) for name in WebhookOut.model_fields}


def delivery_out(delivery: Delivery) -> dict[str, Any]:
    return {name: getattr(delivery, name) for name in DeliveryOut.model_fields}


@router.get("", response=reads(Page[WebhookOut]))
def list_webhooks(request: HttpRequest, slug: Slug, query: Query[WebhooksAsked]) -> dict[str, Any]:
    """List the webhooks."""
    rows = Webhook.objects.filter(project=get_project(request.user, slug, Role.RESEARCHER))
    return page_of(request, rows, query, webhook_out, order=query.order)


@router.post("", response=writes(WebhookMade, 201))
@once
def create_webhook(request: HttpRequest, slug: Slug, body: WebhookIn) -> Status:
    """Send events to a public https address. Each message is signed with the secret in the response."""
    hook = actions.add_webhook(request.user, get_project(request.user, slug, Role.RESEARCHER), body.url, body.events)
    return Status(201, {**webhook_out(hook), "secret": secret_of(hook)})


@router.post("/{int:pk}/ping", response=writes(WebhookOut, 202))
@once
def ping_webhook(request: HttpRequest, slug: Slug, pk: int) -> Status:
    """Send a test message to the address."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    return Status(202, webhook_out(actions.ping_webhook(request.user, project, pk)))


@router.post("/{int:pk}/rotate", response=writes(WebhookMade))
@once
def rotate_webhook(request: HttpRequest, slug: Slug, pk: int, body: RotationIn) -> Status:
    """Replace the secret. For 24 hours, messages are signed with the old one too."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    hook = actions.rotate_webhook(request.user, project, pk, revoke=body.revoke)
    return Status(200, {**webhook_out(hook), "secret": secret_of(hook)})


@router.post("/{int:pk}/restart", response=writes(WebhookOut))
@once
def restart_webhook(request: HttpRequest, slug: Slug, pk: int) -> dict[str, Any]:
    """Send events again to a webhook that stopped after too many failures."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    return webhook_out(actions.restart_webhook(request.user, project, pk))


@router.post("/{int:pk}/deliveries/{int:delivery}/retry", response=writes(DeliveryOut))
@once
def retry_delivery(request: HttpRequest, slug: Slug, pk: int, delivery: int) -> dict[str, Any]:
    """Send a failed message again."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    return delivery_out(actions.retry_delivery(request.user, project, pk, delivery))


@router.delete("/{int:pk}", response=writes(None, 204))
@once
def delete_webhook(request: HttpRequest, slug: Slug, pk: int) -> Status:
    """Delete the webhook and its waiting messages."""
    actions.remove_webhook(request.user, get_project(request.user, slug, Role.RESEARCHER), pk)
    return Status(204, None)


@router.get("/{int:pk}/deliveries", response=reads(Page[DeliveryOut]))
def list_deliveries(request: HttpRequest, slug: Slug, pk: int, query: Query[DeliveriesAsked]) -> dict[str, Any]:
    """List the messages sent to the address and its responses."""
    hook = actions.webhook_for(request.user, get_project(request.user, slug, Role.RESEARCHER), pk)
    rows = Delivery.objects.filter(webhook=hook)
    return page_of(
        request, rows.filter(state=query.state) if query.state else rows, query, delivery_out, order=query.order
    )
