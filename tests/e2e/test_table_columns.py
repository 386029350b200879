"""A table of unknown columns becomes items through the page: with the guesses, a correction, and a saved recipe."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from foilworks.core.corpus.models import Item, Video
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from foilworks.site.imports.recipes import saved_recipes
from tests.e2e.conftest import SignIn, assert_accessible
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db(transaction=True)

TABLE = """clip_path;sentence_en;hard_negative_1;hard_negative_2;ok;remark
/data/a.mp4;A cook cuts a carrot on a board.;A cook peels a carrot on a board.;A cook cuts a leek on a board.;1;fine
/data/b.mp4;Two children run down a hill.;Two children run up a hill.;Two children sit on a hill.;1;fine
/data/c.mp4;A dog waits in front of a door.;A dog waits behind a door.;A dog sleeps in front of a door.;0;dark
"""


def do_the_job() -> None:
    run_now(Job.objects.filter(state="waiting").latest("created_at"))


@pytest.mark.full
def test_a_table_of_unknown_columns_becomes_items_in_a_few_clicks(sign_in: SignIn, tmp_path: Path, settings) -> None:
    settings.UPLOAD_ROOT = tmp_path / "uploads"
    (tmp_path / "my_table.csv").write_text(TABLE, encoding="utf-8")
    project = make_project(slug="own", name="Own")
    page = sign_in(make_member(project, Role.RESEARCHER))
    clicks = []

    def click(what) -> None:
        clicks.append(what)
        what.click()

    page.goto("/projects/own/imports/")
    page.get_by_label("Files", exact=True).set_input_files(tmp_path / "my_table.csv")
    click(page.get_by_role("button", name="Upload and preview"))
    expect(page.get_by_text("being checked")).to_be_visible()
    do_the_job()
    expect(page.get_by_role("heading", name="First records")).to_be_visible()
    assert_accessible(page)
    # The guesses are right; the name of a file is taken without its folder.
    expect(page.get_by_label("Caption", exact=True)).to_have_value("sentence_en")
    preview = page.locator("#columns-preview")
    expect(preview).to_contain_text("A cook peels a carrot on a board.")
    expect(preview).to_contain_text("a.mp4")
    expect(preview).not_to_contain_text("/data/")
    # A condition changes the preview without a click.
    click(page.get_by_text("Only some rows"))
    page.get_by_label("Column", exact=True).first.select_option("ok")
    page.get_by_label("Value", exact=True).first.fill("1")
    expect(preview).not_to_contain_text("A dog waits")
    page.get_by_label("Save as a recipe named").fill("cooks")
    click(page.get_by_role("button", name="Check all rows"))
    expect(page.get_by_text("being checked")).to_be_visible()
    do_the_job()
    expect(page.get_by_role("heading", name="Preview")).to_be_visible()
    expect(page.get_by_text("1 of 3 rows do not meet the conditions")).to_be_visible()
    assert_accessible(page)
    click(page.get_by_role("button", name="Import"))
    expect(page.get_by_text("importing")).to_be_visible()
    do_the_job()
    expect(page.get_by_text("Imported.")).to_be_visible()
    assert sorted(Video.objects.values_list("key", flat=True)) == ["a.mp4", "b.mp4"]
    assert [item.foils.count() for item in Item.objects.all()] == [2, 2]
    assert list(saved_recipes(project)) == ["cooks"]
    assert len(clicks) == 4
