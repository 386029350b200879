"""People, projects, permissions, and the record of every write."""

from projects.models.accounts import Consent, ConsentText, OnWithdrawal, RateLimitCounter, RecoveryCode, SecondFactor
from projects.models.entry import (
    CrowdPlace,
    CrowdStudy,
    CrowdWorker,
    Invitation,
    InvitationUse,
    PlaceState,
    Platform,
    SpentEntry,
)
from projects.models.notifications import MailFrequency, Notification, NotificationCursor, NotificationSettings
from projects.models.project import WORK_OF_ROLES, AuditEvent, LeakageScope, Membership, Project, Role, User
from projects.models.tokens import ApiToken, IdempotentAnswer, RequestCount
from projects.models.webhooks import Delivery, Webhook

__all__ = [
    "WORK_OF_ROLES",
    "ApiToken",
    "AuditEvent",
    "Consent",
    "ConsentText",
    "CrowdPlace",
    "CrowdStudy",
    "CrowdWorker",
    "Delivery",
    "IdempotentAnswer",
    "Invitation",
    "InvitationUse",
    "LeakageScope",
    "MailFrequency",
    "Membership",
    "Notification",
    "NotificationCursor",
    "NotificationSettings",
    "OnWithdrawal",
    "PlaceState",
    "Platform",
    "Project",
    "RateLimitCounter",
    "RecoveryCode",
    "RequestCount",
    "Role",
    "SecondFactor",
    "SpentEntry",
    "User",
    "Webhook",
]
