"""People, projects, permissions, and the record of every write."""

from foilworks.core.projects.models.accounts import (
    Consent,
    ConsentState,
    ConsentText,
    OnWithdrawal,
    RateLimitCounter,
    RecoveryCode,
    SecondFactor,
)
from foilworks.core.projects.models.entry import (
    CrowdPlace,
    CrowdStudy,
    CrowdWorker,
    Invitation,
    InvitationUse,
    PlaceState,
    Platform,
    SpentEntry,
)
from foilworks.core.projects.models.notifications import (
    MailFrequency,
    Notification,
    NotificationCursor,
    NotificationSettings,
)
from foilworks.core.projects.models.project import (
    WORK_OF_ROLES,
    AuditEvent,
    AuditSeal,
    LeakageScope,
    Membership,
    Project,
    User,
)
from foilworks.core.projects.models.saved_views import SavedView
from foilworks.core.projects.models.tokens import ApiToken, IdempotentAnswer, RequestCount
from foilworks.core.projects.models.webhooks import Delivery, Webhook
from foilworks.core.projects.roles import Role

__all__ = [
    "WORK_OF_ROLES",
    "ApiToken",
    "AuditEvent",
    "AuditSeal",
    "Consent",
    "ConsentState",
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
    "SavedView",
    "SecondFactor",
    "SpentEntry",
    "User",
    "Webhook",
]
