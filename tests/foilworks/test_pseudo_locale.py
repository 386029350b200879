"""Every text that a person reads on a page can be translated.

All pages are shown in the pseudo-locale (tests/pseudo.py). A text in plain letters is one that no catalogue can reach:
mark it with `translate` or gettext, or, if it is the same in every language, with `translate="no"`.
"""

import re
from collections.abc import Iterator

import pytest
from django.db import transaction
from django.test import override_settings

from tests import pseudo
from tests.every_page import Visit, page_of, visits

# What the people of the two projects have named and written, and the title of a page of the documentation, which is in
# English only.
DATA = re.compile(
    r"^Score a model\b|(Zanzibar project|quagga subtest|jabberwock clip)-\d+\.?|release 1"
    r"|(Project|project|subtest|item|clip|person)[- ]?\d+\.?"
    r"|\b(tiny:start|fake|taught|motion|things|up|down|m1|m2)\b|^table$"
    r"|\b(a man|man|yodels-\d|folds|unfolds|sits|a …|a shirt|a ball|moves|rests|(a )?thing|(a )?hole)\b"
)


@pytest.fixture(scope="module")
def walk(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[list[Visit]]:
    folder = tmp_path_factory.mktemp("pages")
    files = {"MEDIA_ROOT": folder, "UPLOAD_ROOT": folder / "uploads"}
    with django_db_blocker.unblock(), transaction.atomic(), override_settings(**files, **pseudo.offered(folder)):
        yield visits(folder)
        transaction.set_rollback(True)


def in_pseudo(visit: Visit) -> str:
    with transaction.atomic():
        page = page_of(visit, **{"accept-language": pseudo.CODE})
        # What a visit changes must not be seen by the next.
        transaction.set_rollback(True)
    return page


@pytest.mark.django_db
def test_every_text_of_every_page_can_be_translated(walk: list[Visit]) -> None:
    shown = {visit: in_pseudo(visit) for visit in walk}
    assert len([page for page in shown.values() if "⟦" in page]) > 150
    found = {visit.name: texts for visit, page in shown.items() if (texts := pseudo.untranslated(page, DATA))}
    assert found == {}


@pytest.mark.parametrize(
    "page",
    [
        "<p>Retry</p>",
        '<img alt="Retry">',
        '<a title="Retry">⟦Ŕéţŕý ~⟧</a>',
        '<input placeholder="Retry">',
        '<nav aria-label="Retry"></nav>',
        '<button data-confirm="Retry">⟦Ŕéţŕý ~⟧</button>',
        '<input type="submit" value="Retry">',
    ],
)
def test_a_text_that_is_not_marked_is_found(page: str) -> None:
    assert pseudo.untranslated(page, DATA) == ["Retry"]


@pytest.mark.parametrize(
    "page", ["<p>⟦Ŕéţŕý ~⟧ 12 ms</p>", '<b translate="no">Retry</b>', "<code>retry</code>", "<p>item-7</p>"]
)
def test_names_codes_and_data_stay(page: str) -> None:
    assert pseudo.untranslated(page, DATA) == []
