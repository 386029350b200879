"""Every language that is offered is complete, and a language can be brought."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import translation

from foilworks.core.projects.models import Role
from scripts import catalogue
from tests import pseudo
from tests.factories import make_member, make_project

HOLDERS = re.compile(r"%%|%\(\w+\)[\d.]*[a-zA-Z]|\{\w+\}")
TAGS = re.compile(r"</?[a-z]+")


@pytest.fixture(scope="module")
def source() -> Catalog:
    return catalogue.source()


@pytest.fixture
def other_language(settings, tmp_path: Path) -> str:
    pseudo.install(settings, tmp_path)
    return pseudo.CODE


@pytest.fixture
def page() -> tuple[Client, str]:
    """A researcher's browser, and the address of their project's overview."""
    project, client = make_project(), Client()
    client.force_login(make_member(project, Role.RESEARCHER))
    return client, reverse("dashboard:dashboard", args=[project.slug])


def texts_of(message: Message) -> Iterator[tuple[str, str]]:
    """Yield (text of the source, text of the language) for each plural form."""
    translated = message.string if isinstance(message.string, list | tuple) else [message.string]
    original = message.id if isinstance(message.id, list | tuple) else [message.id]
    yield from zip(original, translated, strict=True)


def faults(language: str, source: Catalog) -> list[str]:
    """Return what keeps a catalogue from being offered: messages it lacks, changed placeholders, an old .mo file."""
    stored = catalogue.stored(language)
    keys = [(message.id if isinstance(message.id, str) else message.id[0], message.context) for message in source]
    unknown = [f"unknown: {key[0]}" for key in keys if key[0] and stored.get(*key) is None]
    lacking = [f"not translated: {message.id}" for message in catalogue.lacking(stored)]
    odd = [
        f"other placeholders: {original}"
        for message in stored
        if message.id
        for original, translated in texts_of(message)
        if translated
        and (
            sorted(HOLDERS.findall(original)) != sorted(HOLDERS.findall(translated))
            or TAGS.findall(original) != TAGS.findall(translated)
            or original[:1].isspace() != translated[:1].isspace()
        )
    ]
    compiled = (catalogue.LOCALE / language / "LC_MESSAGES" / "django.mo").read_bytes()
    return unknown + lacking + odd + ["compiled: differs"] * (compiled != catalogue.as_mo(stored))


def test_offered_languages_have_a_catalogue(source):
    offered = [code for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
    assert catalogue.languages() == offered
    assert [fault for language in offered for fault in faults(language, source)] == []


def test_mails_are_extracted_as_pages_are(source):
    places = {name for message in source for name, _line in message.locations}
    assert {
        "templates/projects/password_reset_mail.txt",
        "templates/projects/password_reset_subject.txt",
    } <= places


def test_a_new_language_is_started_translated_and_compiled(source, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(catalogue, "LOCALE", tmp_path)
    catalogue.update("fr")
    assert catalogue.languages() == ["fr"]
    # The header is a message of its own.
    count = len([message for message in source if message.id])
    assert f"fr: {count} messages, {count} without a translation" in capsys.readouterr().out
    assert f"not translated: {'Sign in'}" in faults("fr", source)

    path = tmp_path / "fr" / "LC_MESSAGES" / "django.po"
    written = read_po(io.BytesIO(path.read_bytes()), locale="fr", charset="utf-8")
    for message in written:
        if message.id:
            message.string = message.id
    written.get("Sign in").string = "Se connecter"
    path.write_bytes(catalogue.as_po(written))
    assert faults("fr", source) == ["compiled: differs"]
    catalogue.update()
    assert faults("fr", source) == []

    written.get("Sign in").string = "Se connecter %(name)s"
    path.write_bytes(catalogue.as_po(written))
    catalogue.update()
    assert faults("fr", source) == ["other placeholders: Sign in"]


@pytest.mark.django_db
def test_without_a_second_language_there_is_no_menu(page):
    client, address = page
    for shown in (client.get(address), Client().get("/")):
        assert shown.status_code == 200
        assert 'name="language"' not in shown.content.decode()


@pytest.mark.django_db
def test_a_language_that_is_offered_is_chosen_in_the_menu(page, other_language):
    client, address = page
    assert f'name="language" value="{other_language}"' in client.get(address).content.decode()
    assert f'name="language" value="{other_language}"' in Client().get("/").content.decode()
    answer = client.post(reverse("language"), {"language": other_language, "next": address})
    assert (answer.status_code, answer.url) == (302, address)
    shown = client.get(address).content.decode()
    assert f'<html lang="{other_language}">' in shown
    assert pseudo.pseudo("Sign out") in shown
    assert client.cookies["language"]["httponly"]


@pytest.mark.django_db
def test_the_browsers_language_is_the_default(other_language):
    shown = Client(headers={"accept-language": f"fr-FR,{other_language};q=0.9,en;q=0.5"}).get("/sign-in/")
    assert pseudo.pseudo("Sign in") in shown.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["de", "de-AT", "fr", "", "xx", "../en"])
def test_a_language_that_is_not_offered_is_english(page, language):
    """Browsers keep the choice of German that an older version offered for a year."""
    client, address = page
    client.cookies["language"] = language
    by_header = Client(headers={"accept-language": f"{language},{language}-AT;q=0.9"})
    for shown in (client.get(address), by_header.get("/sign-in/")):
        assert shown.status_code == 200
        assert '<html lang="en">' in shown.content.decode()
    answer = client.post(reverse("language"), {"language": language, "next": address})
    assert (answer.status_code, answer.url) == (302, address)
    assert '<html lang="en">' in client.get(address).content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["https://elsewhere.example/", "//elsewhere.example"])
def test_the_language_menu_redirects_only_within_the_site(address):
    answer = Client().post(reverse("language"), {"language": "en", "next": address})
    assert "elsewhere" not in answer.url


def test_plurals_follow_their_number(other_language):
    with translation.override(other_language):
        words = [translation.ngettext("%(n)s pair", "%(n)s pairs", n) % {"n": n} for n in (1, 3)]
    assert words == [pseudo.pseudo("%(n)s pair") % {"n": 1}, pseudo.pseudo("%(n)s pairs") % {"n": 3}]
