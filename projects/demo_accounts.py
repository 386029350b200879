"""Accounts whose passwords stand on the sign-in page of a demo: whoever reads it has them."""

from typing import Any

from projects.errors import AccessDenied
from projects.models import Project, Role, User


def published_accounts() -> list[dict[str, Any]]:
    """The simulated projects that publish accounts: [{"name", "accounts": [{"username", "role", "password"}]}].

    The role is told in the language of whoever reads.
    """
    rows = Project.objects.filter(is_simulated=True).values("name", "sign_in_hint")
    labels = dict(Role.choices)
    return [
        {"name": row["name"], "accounts": [{**a, "role": labels.get(a["role"], a["role"])} for a in hint["accounts"]]}
        for row in rows
        if (hint := row["sign_in_hint"])
    ]


def is_published(person: User) -> bool:
    """Whether anybody may sign in as this person: such a one makes no accounts and keeps the password. One query."""
    return any(person.username == account["username"] for demo in published_accounts() for account in demo["accounts"])


def refuse_published(person: User, problem: str) -> None:
    """AccessDenied with the problem's words where anybody may sign in as this person."""
    if is_published(person):
        raise AccessDenied(problem)
