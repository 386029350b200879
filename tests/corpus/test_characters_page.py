"""The page of characters: upload a list, see what it matches, save it."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from foilworks.core.corpus.models import Caption
from foilworks.core.projects.models import AuditEvent, Role
from tests.factories import make_caption, make_member, make_project, make_video
from tests.visible_text import visible_texts

pytestmark = pytest.mark.django_db


def words_of(answer) -> str:
    return " ".join(" ".join(visible_texts(answer.content.decode())).split())


LIST = "\n".join(
    (
        "movie\tname\tgender\taliases",
        "Harry Potter\tHarry\tmale\tPotter|Mr. Potter",
        "Harry Potter\tRon\tmale\t",
        "Up\tCarl\tmale\t",
    )
)


@pytest.fixture
def project():
    project = make_project(slug="films")
    for number in range(2):
        make_caption(make_video(project, movie="Harry Potter"), f"Harry opens door {number}.")
    make_caption(make_video(project), "a man folds a shirt.")
    return project


@pytest.fixture
def page(project):
    client = Client()
    client.force_login(make_member(project, Role.RESEARCHER))
    return client


ADDRESS = "/projects/films/captions/characters/"


def listed(text: str, name: str = "characters.tsv") -> dict:
    return {"characters": SimpleUploadedFile(name, text.encode("utf-8"))}


def test_a_list_is_previewed_and_then_saved(page, project):
    assert reverse("corpus:characters", args=["films"]) == ADDRESS
    assert "Harry Potter" in words_of(page.get(ADDRESS))
    preview = page.post(ADDRESS, listed(LIST))
    words = words_of(preview)
    assert "The list matches 2 captions." in words
    assert "1 movie of the list has no captions here: Up" in words
    assert not Caption.objects.filter(facts__has_key="characters").exists()
    saved = page.post(ADDRESS, {"text": preview.context["preview"]["text"], "save": "1"}, follow=True)
    assert "Characters saved for 2 captions." in words_of(saved)
    (facts,) = {str(c.facts["characters"]) for c in Caption.objects.filter(facts__has_key="characters")}
    assert "'aliases': ['Potter', 'Mr. Potter']" in facts
    assert AuditEvent.objects.filter(action="corpus.set_characters").count() == 1
    again = page.post(ADDRESS, listed(LIST))
    assert "It replaces the characters of 2 captions." in words_of(again)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("movie\tname\nUp\tCarl\n", "names.tsv:1: header"),
        ("movie\tname\tgender\nUp\tCarl\t\n", "names.tsv:2: row: lacks a movie, a name or a gender"),
        ("movie\tname\tgender\n", "The list has no characters"),
        ("", "The submitted file is empty."),
    ],
)
def test_a_list_that_cannot_be_read_names_its_line(page, text, problem):
    answer = page.post(ADDRESS, listed(text, "names.tsv"))
    assert answer.status_code == 422
    assert problem in words_of(answer)


def test_a_list_of_other_movies_cannot_be_saved(page):
    answer = page.post(ADDRESS, listed("movie\tname\tgender\nUp\tCarl\tmale\n"))
    assert "The list matches no caption." in words_of(answer)
    assert "Save characters" not in answer.content.decode()


def test_a_file_that_is_not_utf8_is_refused(page):
    file = SimpleUploadedFile("c.tsv", "movie\tname\tgender\nAmélie\tAmélie\tfemale\n".encode("latin-1"))
    answer = page.post(ADDRESS, {"characters": file})
    assert answer.status_code == 422
    assert "is not UTF-8" in answer.content.decode()
