"""Addresses that are told of a project's events, and what became of each telling."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema, Status

from foilworks.api.answers import reads, writes
from foilworks.api.once import once
from foilworks.api.paging import Listed, Page, page_of
from foilworks.api.shapes import Line, Slug
from projects.access import get_project
from projects.actions import webhooks as actions
from projects.models import Delivery, Role, Webhook
from projects.webhooks import EVENTS, secret_of

router = Router(tags=["webhooks"])
Event = Literal[tuple(EVENTS)]


class WebhookIn(Schema):
    url: Line
    events: list[Event] = Field(min_length=1, max_length=20)


class WebhookOut(Schema):
    """`stopped_at`: nothing is sent any more, because nothing was taken for long; take it out and add it again."""

    id: int
    url: str
    events: list[str]
    created_at: datetime
    stopped_at: datetime | None


class WebhookMade(WebhookOut):
    secret: str | None = Field(description="that signatures are made with; told once")


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
def list_webhooks(request: HttpRequest, slug: Slug, asked: Query[WebhooksAsked]) -> dict[str, Any]:
    """The addresses that are told."""
    rows = Webhook.objects.filter(project=get_project(request.user, slug, Role.RESEARCHER))
    return page_of(request, rows, asked, webhook_out, order=asked.order)


@router.post("", response=writes(WebhookMade, 201))
@once
def create_webhook(request: HttpRequest, slug: Slug, body: WebhookIn) -> Status:
    """Have a public https address told of events. Each message is signed with the secret in the answer."""
    hook = actions.add_webhook(request.user, get_project(request.user, slug, Role.RESEARCHER), body.url, body.events)
    return Status(201, {**webhook_out(hook), "secret": secret_of(hook)})


@router.post("/{int:pk}/ping", response=writes(WebhookOut, 202))
@once
def ping_webhook(request: HttpRequest, slug: Slug, pk: int) -> Status:
    """Send the address a message to try it."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    return Status(202, webhook_out(actions.ping_webhook(request.user, project, pk)))


@router.delete("/{int:pk}", response=writes(None, 204))
@once
def delete_webhook(request: HttpRequest, slug: Slug, pk: int) -> Status:
    """Take the address out, with what still waits for it."""
    actions.remove_webhook(request.user, get_project(request.user, slug, Role.RESEARCHER), pk)
    return Status(204, None)


@router.get("/{int:pk}/deliveries", response=reads(Page[DeliveryOut]))
def list_deliveries(request: HttpRequest, slug: Slug, pk: int, asked: Query[DeliveriesAsked]) -> dict[str, Any]:
    """What was sent to the address, and what it answered."""
    hook = actions.webhook_for(request.user, get_project(request.user, slug, Role.RESEARCHER), pk)
    rows = Delivery.objects.filter(webhook=hook)
    return page_of(
        request, rows.filter(state=asked.state) if asked.state else rows, asked, delivery_out, order=asked.order
    )
