"""Every language that is offered says everything; what is compiled is what was written."""

import re
from collections.abc import Iterator

import pytest
from babel.messages.catalog import Catalog, Message
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import translation

from projects.models import Role
from scripts import catalogue
from tests.factories import make_member, make_project

OFFERED = [code for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
HOLDERS = re.compile(r"%%|%\(\w+\)[\d.]*[a-zA-Z]|\{\w+\}")
TAGS = re.compile(r"</?[a-z]+")


@pytest.fixture(scope="module")
def source() -> Catalog:
    return catalogue.source()


def told(message: Message) -> Iterator[tuple[str, str]]:
    """(what the source says, what the language says), for each plural."""
    says = message.string if isinstance(message.string, list | tuple) else [message.string]
    meant = message.id if isinstance(message.id, list | tuple) else [message.id]
    yield from zip(meant, says, strict=True)


def test_what_is_offered_is_what_has_a_catalogue():
    assert catalogue.languages() == OFFERED


@pytest.mark.parametrize("language", OFFERED)
def test_no_string_is_untranslated(language, source):
    """Run `.venv/bin/python scripts/catalogue.py update`, then write what `scripts/catalogue.py missing de` lists."""
    stored = catalogue.stored(language)
    keys = [(message.id if isinstance(message.id, str) else message.id[0], message.context) for message in source]
    known = [stored.get(*key) for key in keys if key[0]]
    unknown = [key[0] for key, message in zip([key for key in keys if key[0]], known, strict=True) if message is None]
    assert unknown + [str(message.id) for message in catalogue.lacking([one for one in known if one])] == []


def test_mails_are_read_as_pages_are(source):
    told_in = {name for message in source for name, _line in message.locations}
    assert {
        "foilworks/templates/projects/password_reset_mail.txt",
        "foilworks/templates/projects/password_reset_subject.txt",
    } <= told_in


@pytest.mark.parametrize("language", OFFERED)
def test_placeholders_and_tags_are_those_of_the_source(language):
    odd = [
        (meant, says)
        for message in catalogue.stored(language)
        if message.id
        for meant, says in told(message)
        if sorted(HOLDERS.findall(meant)) != sorted(HOLDERS.findall(says))
        or TAGS.findall(meant) != TAGS.findall(says)
        or meant[:1].isspace() != says[:1].isspace()
    ]
    assert odd == []


@pytest.mark.parametrize("language", OFFERED)
def test_the_compiled_catalogue_is_the_written_one(language):
    compiled = (catalogue.LOCALE / language / "LC_MESSAGES" / "django.mo").read_bytes()
    assert compiled == catalogue.as_mo(catalogue.stored(language))


@pytest.mark.django_db
def test_somebody_chooses_german_in_the_menu_and_gets_it():
    project, client = make_project(), Client()
    client.force_login(make_member(project, Role.RESEARCHER))
    address = reverse("dashboard:dashboard", args=[project.slug])
    assert "Deutsch" in client.get(address).content.decode()
    answer = client.post(reverse("language"), {"language": "de", "next": address})
    assert (answer.status_code, answer.url) == (302, address)
    page = client.get(address).content.decode()
    assert '<html lang="de">' in page
    assert "Zu einem ersten Release" in page
    assert client.cookies["language"]["httponly"]


@pytest.mark.django_db
def test_the_browsers_language_is_taken_where_nobody_chose():
    page = Client(headers={"accept-language": "de-AT,de;q=0.9,en;q=0.5"}).get(reverse("projects:sign_in"))
    assert "Anmelden" in page.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["https://elsewhere.example/", "//elsewhere.example"])
def test_the_switch_leads_nowhere_else(address):
    answer = Client().post(reverse("language"), {"language": "de", "next": address})
    assert "elsewhere" not in answer.url


def test_plurals_follow_their_number():
    with translation.override("de"):
        words = [translation.ngettext("%(n)s item", "%(n)s items", n) % {"n": n} for n in (1, 3)]
    assert words == ["1 Item", "3 Items"]
