"""Demo accounts, whose passwords the sign-in page shows to everybody."""

from typing import Any

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import Project, Role, User

# Why a form is closed to these accounts. The page says it before anything is typed, and the action refuses with it.
NO_ACCOUNTS = _("Demo accounts cannot create accounts. Sign in with your own account.")
NO_ERASURE = _("This is a demo account, which everybody shares. It cannot be erased.")
NO_INVITATIONS = _("Demo accounts cannot invite people. Sign in with your own account.")
NO_NOTIFICATIONS = _("Demo accounts share their notification settings. Sign in with your own account to change yours.")
NO_PASSWORD = _("This is a demo account with a public password. Its password cannot be changed.")
NO_PROFILE = _("This is a demo account. Do not enter a name or an address here.")
NO_SECOND_FACTOR = _("This is a demo account. A second factor would lock out the next visitor.")
NO_SETTINGS = _("Demo accounts cannot change the settings of a project. Sign in with your own account.")
NO_STUDIES = _("Demo accounts cannot create studies. Sign in with your own account.")
NO_TOKENS = _("Demo accounts cannot have tokens. Sign in with your own account.")

# What a person with this role does.
WORK = {
    Role.ANNOTATOR: _("writes foils"),
    Role.REVIEWER: _("checks foils"),
    Role.VALIDATOR: _("watches videos and chooses the true sentence"),
    Role.RESEARCHER: _("runs the project and reads its results"),
}


def published_accounts() -> list[dict[str, Any]]:
    """Return the demo projects with accounts: [{"name", "accounts": [{"username", "role", "password",
    "work"}]}].

    The role, and the work of its people, are in the reader's language.
    """
    return _accounts_of(Project.objects.filter(is_simulated=True, deleted_at=None))


def _accounts_of(projects: QuerySet[Project]) -> list[dict[str, Any]]:
    rows = projects.values("name", "sign_in_hint")
    labels = dict(Role.choices)
    return [
        {
            "name": row["name"],
            "accounts": [
                {**account, "role": labels.get(account["role"], account["role"]), "work": WORK.get(account["role"], "")}
                for account in hint["accounts"]
            ],
        }
        for row in rows
        if (hint := row["sign_in_hint"])
    ]


def is_published(person: User) -> bool:
    """Return whether anybody can sign in as this person. One query.

    Such a person cannot create accounts or change the password. The password stays public if the project is deleted.
    """
    demos = _accounts_of(Project.objects.filter(is_simulated=True))
    return any(person.username == account["username"] for demo in demos for account in demo["accounts"])


def refuse_published(person: User, problem: str | Promise) -> None:
    """Raise AccessDenied with the problem if anybody can sign in as this person."""
    if is_published(person):
        raise AccessDenied(str(problem))


def why_closed(person: User, problem: str | Promise) -> str | Promise:
    """Return the problem for a demo account, whose form is shown disabled with it; else ""."""
    return problem if is_published(person) else ""
