"""Rename the models in audit rows that point to them."""

from django.db import migrations

RENAMED = {
    "evaluation.report": "evaluation.cachedresult",
    "evaluation.teacherreading": "evaluation.studentevaluation",
}


def rename(apps, schema_editor):
    events = apps.get_model("projects", "AuditEvent")._base_manager
    for before, now in RENAMED.items():
        events.filter(target_type=before).update(target_type=now)


def rename_back(apps, schema_editor):
    events = apps.get_model("projects", "AuditEvent")._base_manager
    for before, now in RENAMED.items():
        events.filter(target_type=now).update(target_type=before)


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0017_student_evaluations"), ("projects", "0001_squashed_0_2")]

    operations = [migrations.RunPython(rename, rename_back)]
