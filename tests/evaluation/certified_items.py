"""A project whose items wait for a certificate: `python -m tests.evaluation.certified_items make` prints its job."""

import json
import os
import sys

VERBS = ("folds", "tears", "lifts", "drops")


def add_items(subtest, n: int, state: str) -> None:
    """Pairs of verbs in the same balance on both sides."""
    from tests import factories

    for number in range(n):
        clip = factories.make_video(subtest.project, key=f"v{number}", media_state="ready")
        right, wrong = VERBS[number % 4], VERBS[(number + 1 + number // 4 % 3) % 4]
        caption = factories.make_caption(clip, f"she {right} box {number}.")
        factories.make_item(subtest, caption, (f"she {wrong} box {number}.",), state=state, key=f"item-{number}")


def make() -> str:
    """Ask for the certificate, and return the id of its job."""
    from django.core.management import call_command

    from evaluation.reports.actions.request_report import request_report
    from foilworks.core.projects.models import Role
    from tests import factories

    call_command("migrate", verbosity=0)
    subtest = factories.make_subtest(factories.make_project(slug="certified"))
    person = factories.make_member(subtest.project, Role.RESEARCHER, name="researcher")
    add_items(subtest, 40, "valid")
    return str(request_report(person, subtest.project, "certificate", subtest="", params={}).job_id)


def compute() -> str:
    """Return the same certificate as JSON, computed without a job."""
    from evaluation.analyses import certificate
    from evaluation.facts.stored_facts import item_facts
    from foilworks.core.projects.models import Project

    return json.dumps(certificate.compute(item_facts(Project.objects.get(slug="certified"), None)))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")
    import django

    django.setup()
    sys.stdout.write({"make": make, "compute": compute}[sys.argv[1]]())
