"""Demo accounts, whose passwords the sign-in page shows to everybody."""

from typing import Any

from projects.errors import AccessDenied
from projects.models import Project, Role, User


def published_accounts() -> list[dict[str, Any]]:
    """Return the demo projects with accounts: [{"name", "accounts": [{"username", "role", "password"}]}].

    The role is in the reader's language.
    """
    rows = Project.objects.filter(is_simulated=True).values("name", "sign_in_hint")
    labels = dict(Role.choices)
    return [
        {"name": row["name"], "accounts": [{**a, "role": labels.get(a["role"], a["role"])} for a in hint["accounts"]]}
        for row in rows
        if (hint := row["sign_in_hint"])
    ]


def is_published(person: User) -> bool:
    """Return whether anybody can sign in as this person. One query.

    Such a person cannot create accounts or change the password.
    """
    return any(person.username == account["username"] for demo in published_accounts() for account in demo["accounts"])


def refuse_published(person: User, problem: str) -> None:
    """Raise AccessDenied with the problem if anybody can sign in as this person."""
    if is_published(person):
        raise AccessDenied(problem)
