"""Define the simulated people of the sample project, with stated error rates, and one account per role for visitors.

Errors are drawn per scene: a clip and its reversal show the same object, and a person who misreads one misreads the
other. So both are in the release or neither, and a model that averages frames is exactly at chance.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.contrib.auth.hashers import make_password
from django.db import transaction

from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Membership, Project, Role, User

# Shown on the sign-in page, for accounts that reach only sample projects.
PASSWORD = "shapes-in-motion"  # noqa: S105


@dataclass(frozen=True)
class Player:
    """A simulated person.

    `traits` are shares of scenes, stated in the data (`Membership.simulated_traits`).
    """

    username: str
    name: str
    role: Role
    traits: dict[str, float] = field(default_factory=dict)


# Annotators share one rate, as do reviewers: any of them may get either clip of a scene.
WRITES = {"leaves_a_true_text": 0.28, "leaves_a_true_text_objects": 0.06}
READS = {"overlooks_a_true_text": 0.6, "overlooks_a_true_text_objects": 0.6}
OWNER = "sim-olga"
PLAYERS = (
    Player(OWNER, "Olga", Role.RESEARCHER),
    Player("sim-ada", "Ada", Role.ANNOTATOR, WRITES),
    Player("sim-ben", "Ben", Role.ANNOTATOR, WRITES),
    Player("sim-rosa", "Rosa", Role.REVIEWER, READS),
    Player("sim-raul", "Raul", Role.REVIEWER, READS),
    Player("sim-vera", "Vera", Role.VALIDATOR, {"misjudges": 0.06, "misjudges_objects": 0.03}),
    Player("sim-victor", "Victor", Role.VALIDATOR, {"misjudges": 0.10, "misjudges_objects": 0.03}),
    Player("sim-viola", "Viola", Role.VALIDATOR, {"misjudges": 0.14, "misjudges_objects": 0.03}),
)
VISITORS = {role: f"demo-{role.value}" for role in (Role.ANNOTATOR, Role.REVIEWER, Role.VALIDATOR, Role.RESEARCHER)}


@transaction.atomic
def enrol(project: Project) -> dict[str, User]:
    """Give everybody their role and publish the visitors' accounts; return people by username.

    Existing accounts are reused.
    """
    people = {}
    for player in PLAYERS:
        person, _ = User.objects.get_or_create(
            username=player.username,
            # Nobody signs in as a simulated person.
            defaults={"first_name": player.name, "is_simulated": True, "password": make_password(None)},
        )
        people[player.username] = _add_member(project, person, player.role, player.traits)
    for role, username in VISITORS.items():
        person, new = User.objects.get_or_create(username=username)
        if new:
            person.set_password(PASSWORD)
            person.save(update_fields=["password"])
        people[username] = _add_member(project, person, role, {})
    project.sign_in_hint = {
        "accounts": [
            {"username": username, "role": role.value, "password": PASSWORD} for role, username in VISITORS.items()
        ]
    }
    project.save(update_fields=["sign_in_hint"])
    return people


def _add_member(project: Project, person: User, role: Role, traits: dict[str, float]) -> User:
    member = Membership.objects.create(project=project, person=person, role=role, simulated_traits=traits)
    audit.record(audit.event(project, None, "foilworks.demo.enrol", member, to_state=role.value, person=person.pk))
    return person


def drawn(scenes: Sequence[str], share: float, *seed: object) -> frozenset[str]:
    """Return exactly round(share * n) of the n scenes, drawn by the seed."""
    pool = sorted(set(scenes))
    return frozenset(random.Random("/".join(map(str, seed))).sample(pool, round(share * len(pool))))
