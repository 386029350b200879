"""Measure pages of the lists of items and captions: first, middle and last, in each order and with filters.

Prints queries and milliseconds of each page (the median of --repeats), and its ratio to page 1 of a list with a
thousandth of the rows. A page should cost the same wherever it is and however long the list is.

    .venv/bin/python benchmarks/lists.py [--items 1000000] [--database sqlite] [--repeats 7]
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.served_home import own_home

ASKED = {
    "items/": ({}, {"sort": "oldest"}, {"sort": "key"}, {"state": "valid"}, {"state": "disputed"}, {"q": "item 77"}),
    "captions/list/": ({}, {"sort": "video-down"}, {"source": "imported"}, {"items": "yes"}, {"q": "folds 77"}),
}
# Of the million items, so many are disputed: a filter that fits few.
RARE = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="postgresql")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    with own_home(sqlite=options.database == "sqlite"):
        small, large = (
            _project(0, max(100, options.items // 1000)),
            _project(options.items // 1000 + 100, options.items),
        )
        from tests.many_rows import analyse

        analyse()
        print(json.dumps(vars(options)))
        for path, views in ASKED.items():
            base, _n = _measured(small, path, {}, "", options.repeats)
            print(json.dumps({"list": path, "first_of_small_ms": round(1000 * base, 1)}))
            for asked in views:
                for where in ("first", "middle", "last"):
                    cursor = _cursor(large, path, asked, where)
                    seconds, queries = _measured(large, path, asked, cursor, options.repeats)
                    measured = {"ms": round(1000 * seconds, 1), "ratio": round(seconds / base, 2)}
                    print(json.dumps({"list": path, **asked, "page": where, "queries": queries, **measured}))


def _project(start: int, n: int) -> object:
    from foilworks.core.corpus.models import Caption, Foil, Item, MediaState, Subtest, Video
    from foilworks.core.projects.models import Membership, Project, Role, User
    from tests.many_rows import multiply

    project = Project.objects.create(slug=f"list{start}", name="list")
    person = User.objects.create(username=f"researcher{start}")
    Membership.objects.create(project=project, person=person, role=Role.RESEARCHER)
    first, last = start + 1, start + n
    multiply(Video(project=project, media_state=MediaState.READY), first, last, key="'v' || n")
    digest = "'x' || n"
    multiply(Caption(), first, last, video="n", key="'c' || n", text="'person folds ' || n", text_sha256=digest)
    for k in range(4):
        Subtest.objects.create(project=project, name=f"subtest {k}")
    of = f"{Subtest.objects.filter(project=project).order_by('pk').first().pk} + n % 4"
    state = f"CASE WHEN n % {max(2, n // RARE)} = 0 THEN 'disputed' WHEN n % 2 = 0 THEN 'valid' ELSE 'invalid' END"
    multiply(
        Item(project=project, subtest_id=1),
        first,
        last,
        video="n",
        caption="n",
        key="'item ' || n",
        state=state,
        subtest=of,
    )
    multiply(Foil(position=0), first, last, item="n", text="'person unfolds ' || n", text_sha256=digest)
    return project


def _cursor(project: object, path: str, asked: dict, where: str) -> str:
    """The cursor of a page: after half of the rows that fit, or before the end."""
    from django.http import QueryDict

    from evaluation.items.captions import CAPTION_ORDERS, CaptionFilter, narrowed_captions
    from evaluation.items.forms import ItemFilter
    from evaluation.items.listing import ORDERS, narrowed
    from foilworks.core.projects.listing import keyset

    query = QueryDict(mutable=True)
    query.update(asked)
    if path == "items/":
        orders, rows = ORDERS, narrowed(project, ItemFilter(project, query).chosen(), None)
    else:
        orders, rows = CAPTION_ORDERS, narrowed_captions(project, CaptionFilter(query).chosen()).select_related("video")
    order = {each.slug: each for each in orders}.get(asked.get("sort", ""), orders[0])
    sign = "-" if order.descending else ""
    ordered = rows.order_by(*(f"{sign}{name}" for name in order.fields))
    if where == "first":
        return ""
    n = ordered.count()
    at = n // 2 if where == "middle" else max(0, n - keyset.ROWS_PER_PAGE)
    return keyset.cursor_at(order, ordered[at], at + 2)


def _measured(project: object, path: str, asked: dict, cursor: str, repeats: int) -> tuple[float, int]:
    """Median seconds of the page, and its queries."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from foilworks.core.projects.models import Role, User

    client = Client()
    client.force_login(User.objects.get(memberships__project=project, memberships__role=Role.RESEARCHER))
    url, wanted, taken = f"/projects/{project.slug}/{path}", {**asked, "after": cursor}, []
    assert client.get(url, wanted).status_code == 200
    for _ in range(repeats):
        start = time.perf_counter()
        client.get(url, wanted)
        taken.append(time.perf_counter() - start)
    with CaptureQueriesContext(connection) as captured:
        client.get(url, wanted)
    return statistics.median(taken), len(captured)


if __name__ == "__main__":
    main()
