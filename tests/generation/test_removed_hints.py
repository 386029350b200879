"""Foils that were written with hints of 0.3 still name the models that gave them."""

from importlib import import_module

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.test import override_settings

from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.involvement import overlaps, uses_of
from evaluation.scoring.models import Run
from foilworks.core.corpus.models import Item
from generation.models import Candidate
from tests.annotation.world import make_world

MIGRATION = import_module("generation.migrations.0014_without_hints")
MODEL = "fake/text/0@1"


def edited_foils():
    """Return a world with two items whose foils two people wrote."""
    world = make_world()
    for name in ("ann", "abe"):
        world.group()
        world.edit(name, "a man irons a shirt.")
    for _ in range(2):
        world.review("rita")
    Item.objects.update(state="valid")
    return world


@pytest.mark.django_db(transaction=True)
def test_a_foil_names_the_models_whose_hints_its_writer_saw():
    world = edited_foils()
    foil = Candidate.objects.get(author=world.ann)
    # Tables of tests are made from the models: until then the settings name no migrations.
    with override_settings(MIGRATION_MODULES={}):
        loader = MigrationLoader(None, replace_migrations=False)
    apps = loader.project_state([("generation", "0013_sampled_scores")]).apps
    tables = [apps.get_model("generation", name) for name in ("Hint", "HintShown")]
    with connection.schema_editor() as editor:
        for table in tables:
            editor.create_model(table)
    try:
        for text, model in (("a", MODEL), ("b", "other@1"), ("c", "")):
            hint = tables[0].objects.create(
                caption_id=foil.group.caption_id, text=text, text_sha256=text, model_key=model
            )
            tables[1].objects.create(hint=hint, person_id=world.ann.pk)
        MIGRATION.name_models_in_foils(apps, None)
    finally:
        with connection.schema_editor() as editor:
            for table in reversed(tables):
                editor.delete_model(table)
    foil.refresh_from_db()
    assert foil.facts["hints"] == [MODEL, "other@1"]
    assert "hints" not in Candidate.objects.get(author=world.abe).facts


@pytest.mark.django_db
@pytest.mark.parametrize("is_of_0_3", [False, True])
def test_a_scored_model_that_gave_hints_is_flagged(is_of_0_3):
    world = edited_foils()
    candidate = Candidate.objects.get(author=world.ann)
    candidate.facts["hints"] = [MODEL]
    candidate.save()
    release = freeze_release(world.owner, world.project)
    if is_of_0_3:
        for member in release.members.all():
            for provenance in member.record["provenance"]:
                provenance["hints"] = provenance["facts"].pop("hints", [])
            type(member).objects.filter(pk=member.pk).update(record=member.record)
    uses = uses_of(release)
    assert (uses.hints, uses.n_foils) == ({MODEL: 1}, 2)
    keys = ("other@1", f"{MODEL}?frames=8")
    runs = [Run.objects.create(release=release, label=key, spec="x", model_key=key) for key in keys]
    (flagged,) = overlaps(uses, runs)
    assert (flagged.run, flagged.n_foils, flagged.n_all) == (runs[1], 1, 2)
