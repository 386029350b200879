"""Run as a program, inside an upgraded installation: lists where today's code differs from the record.

`python -m tests.foilworks.upgrade.inside ENGINE FOUND PART…` writes {part: [what differs, …]} to FOUND. A part that
writes to the database takes its writes back, but for `client`, `jobs` and `few_jobs`, which come last.
"""

import json
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import django

from tests.foilworks.upgrade.record import recorded

Found = Iterator[Any]


def main(engine: str, out: str, *parts: str) -> None:
    django.setup()
    # Nine of ten requests are refused, as they should be.
    logging.disable(logging.ERROR)
    from django.conf import settings

    from tests.foilworks.upgrade import asking, working

    settings.API_RATE_LIMIT_PER_MINUTE = 0
    table: dict[str, Callable[[dict[str, Any]], Found]] = {
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
    found = {part: list(table[part](recorded(engine))) for part in parts}
    Path(out).write_text(json.dumps(found, default=str), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
