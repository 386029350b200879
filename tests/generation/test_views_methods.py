"""What pages say of a method: a paper's with its deviations, nobody's with what holds for it."""

import pytest
from django.urls import reverse

from foilworks.core.projects.models import Role
from tests.factories import make_member, make_project, make_run, make_subtest


@pytest.mark.django_db
def test_a_method_without_a_paper_is_marked_as_unpublished(client):
    project = make_project()
    client.force_login(make_member(project, Role.RESEARCHER))
    methods = client.get(reverse("generation:methods")).content.decode()
    of_colours = methods.partition('id="methods-colour_swap"')[2].partition("</article>")[0]
    run = make_run(make_subtest(project), method="colour_swap")
    pages = [
        client.get(reverse("generation:new_run", args=[project.slug]), {"method": "colour_swap"}),
        client.get(reverse("generation:run", args=[project.slug, run.pk])),
    ]
    for html in [of_colours, *(page.content.decode() for page in pages)]:
        assert "This method is not from a paper, so both modes are the same." in html
        assert "because the foil could stay true" in html
        assert "ifferences from the paper" not in html


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("", {"colour_swap", "number", "preposition"}),
        ("colour_swap", {"colour_swap"}),
        ("COLOUR swap", {"colour_swap"}),
        ("no such method", set()),
    ],
)
def test_a_search_shows_the_methods_that_contain_every_word(client, asked, found):
    client.force_login(make_member(make_project(), Role.RESEARCHER))
    response = client.get(reverse("generation:methods"), {"q": asked})
    shown = set(response.context["tables"][0]["entries"])
    assert found <= shown
    assert asked == "" or shown == found
    html = response.content.decode()
    assert ("<details" in html and " open>" in html) is (len(found) == 1)
