"""Kill processes that seal and erase audit rows while others write.

    .venv/bin/python -m tests.foilworks.killed_seals [--sqlite]

It prints how many rows there are, how many are sealed, and the first difference.
"""

import argparse
import json
import multiprocessing
import os
import signal
import time

import numpy as np

from tests.served_home import own_home

WRITERS, SEALERS = 2, 2
SEED = 5
FORK = multiprocessing.get_context("fork")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sqlite", action="store_true")
    parser.add_argument("--kills", type=int, default=50)
    options = parser.parse_args()
    with own_home(sqlite=options.sqlite):
        from foilworks.core.projects.audit_trail.sealing import check_trail, seal_due
        from foilworks.core.projects.models import AuditEvent
        from tests.factories import make_project

        project = make_project()
        kill_at_random(project.pk, options.kills)
        erase_somebody()
        seal_due()
        check = check_trail()
        figures = {"rows": AuditEvent.objects.count(), "sealed": check.n_rows, "erased": check.n_erased}
        print(  # noqa: T201
            json.dumps({**figures, "seals": len(check.roots), "difference": check.difference})
        )


def kill_at_random(project_id: int, kills: int) -> None:
    from django.db import connections

    connections.close_all()
    rng = np.random.default_rng(SEED)
    roles = [write] * WRITERS + [seal] * SEALERS + [erase]
    children = [started(role, project_id) for role in roles]
    for _ in range(kills):
        time.sleep(float(rng.uniform(0.05, 0.5)))
        number = int(rng.integers(len(roles)))
        os.kill(children[number].pid or 0, signal.SIGKILL)
        children[number].join()
        children[number] = started(roles[number], project_id)
    for child in children:
        child.kill()
        child.join()


def started(role, project_id: int):
    child = FORK.Process(target=role, args=(project_id,), daemon=True)
    child.start()
    return child


def write(project_id: int) -> None:
    """Add rows in transactions of several statements; every fourth is rolled back, so numbers have gaps."""
    from django.db import transaction

    from foilworks.core.projects.audit_trail import recording as audit
    from foilworks.core.projects.models import Project

    project, number = Project.objects.get(pk=project_id), 0
    while True:
        number += 1
        with transaction.atomic():
            audit.record(*(audit.event(project, None, "rename", project, reason=f"by somebody {n}") for n in range(3)))
            time.sleep(0.005)
            audit.record(audit.event(project, None, "rename", project, reason="late"))
            transaction.set_rollback(number % 4 == 0)


def seal(_project_id: int) -> None:
    from foilworks.core.projects.audit_trail.sealing import seal_due

    while True:
        seal_due()
        time.sleep(0.01)


def erase(_project_id: int) -> None:
    while True:
        erase_somebody()


def erase_somebody() -> None:
    """Erase a person who is named in a sealed row, while others seal."""
    from annotation.erasure.actions.erase_person import erase_person
    from foilworks.core.projects.audit_trail.sealing import seal_due
    from foilworks.core.projects.models import AuditEvent
    from tests.factories import make_user

    person = make_user(f"zaphod{os.getpid()}{time.monotonic_ns()}")
    AuditEvent.objects.create(
        action="rename", target_type="projects.user", target_id="1", reason=f"asked by {person.username}"
    )
    seal_due()
    erase_person(person, person)


if __name__ == "__main__":
    main()
