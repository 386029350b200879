"""What tables hold of people is declared beside the models; a column in which people write is never forgotten."""

import pytest
from django.apps import apps
from django.db import models

from foilworks.core.projects.personal_data import declared

OURS = {"projects", "jobs", "corpus", "generation", "annotation", "evaluation"}
# Names of columns in which people write about one another.
ABOUT_PEOPLE = {
    "body",
    "comment",
    "contact",
    "details",
    "explanation",
    "note",
    "notes",
    "override",
    "paused_note",
    "reason",
}
# Columns of these names in which nobody writes about people, with the reason.
NOT_ABOUT_PEOPLE = {
    "evaluation.BenchmarkedModel.details": "settings of a model",
    "annotation.PayEntry.reason": "one of four codes",
}


def test_every_column_in_which_people_write_is_declared():
    known = {(model, field) for model, data in declared() for field in (*data.free_text, *data.json_text)}
    missing = [
        f"{model._meta.label}.{field.name}"
        for model in apps.get_models()
        if model._meta.app_label in OURS
        for field in model._meta.concrete_fields
        if field.name in ABOUT_PEOPLE and (model, field.name) not in known
    ]
    assert sorted(set(missing) - NOT_ABOUT_PEOPLE.keys()) == []


def test_every_declared_path_leads_somewhere():
    for model, data in declared():
        for field in (*data.free_text, *data.json_text):
            assert isinstance(model._meta.get_field(field), models.CharField | models.TextField | models.JSONField)
        for path in (*data.works, *([data.archive] if data.archive else [])):
            assert str(model.objects.filter(**{f"{path}__isnull": False}).query)
        if data.own_row or data.works:
            assert model._meta.get_field(data.person).related_model._meta.label == "projects.User"


@pytest.mark.parametrize(
    "label", ["annotation.Vote", "annotation.Edit", "annotation.Review", "annotation.ObjectAnswer"]
)
def test_work_of_people_says_whose_results_it_is_part_of(label):
    assert dict(declared())[apps.get_model(label)].works
