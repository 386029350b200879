"""Run as a program, inside an upgraded installation: list where today's code differs from the record.

`python -m tests.foilworks.upgrade.inside ENGINE OUT CHECK…` writes {check: [difference, …]} to OUT. A check that
writes to the database rolls back, except `client`, `jobs` and `few_jobs`, which come last.
"""

import json
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import django

from tests.foilworks.upgrade.record import recorded

Differences = Iterator[Any]


def main(engine: str, out: str, *names: str) -> None:
    django.setup()
    # Nine of ten requests are refused, as they should be.
    logging.disable(logging.ERROR)
    from django.conf import settings

    from tests.foilworks.upgrade import asking, working

    settings.API_RATE_LIMIT_PER_MINUTE = 0
    checks: dict[str, Callable[[dict[str, Any]], Differences]] = {
        "addresses": asking.addresses,
        "pages": asking.pages,
        "operations": asking.operations,
        "few_operations": asking.few_operations,
        "entrances": asking.entrances,
        "audit": asking.audit,
        "values": asking.values,
        "names_of_jobs": working.names_of_jobs,
        "client": working.client,
        "few_jobs": working.few_jobs,
        "jobs": working.all_jobs,
    }
    differences = {name: list(checks[name](recorded(engine))) for name in names}
    Path(out).write_text(json.dumps(differences, default=str), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
