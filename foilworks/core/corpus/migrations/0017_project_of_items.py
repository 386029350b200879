"""Store the project of each item in its own row, so that an index can sort the items of a project."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def fill(apps: Any, schema_editor: Any) -> None:
    """Fill the column in one statement, which can be run again; no row is read into memory."""
    alias = schema_editor.connection.alias
    items = apps.get_model("corpus", "Item")._base_manager.using(alias)
    subtests = apps.get_model("corpus", "Subtest")._base_manager.using(alias)
    project = subtests.filter(pk=OuterRef("subtest")).values("project")[:1]
    items.filter(project=None).update(project=Subquery(project))


def of_project(null: bool) -> models.ForeignKey:
    return models.ForeignKey(
        db_index=False,
        null=null,
        on_delete=django.db.models.deletion.CASCADE,
        related_name="items",
        to="projects.project",
    )


class Migration(migrations.Migration):
    # PostgreSQL refuses to alter a table whose rows have changed in the same transaction.
    atomic = False

    dependencies = [
        ("corpus", "0016_plain_words"),
    ]

    operations = [
        migrations.AddField("item", "project", of_project(null=True)),
        migrations.RunPython(fill, migrations.RunPython.noop, atomic=True),
        migrations.AlterField("item", "project", of_project(null=False)),
        migrations.AddIndex("item", models.Index(fields=["project", "id"], name="item_by_project")),
        migrations.AddIndex("item", models.Index(fields=["project", "state", "id"], name="item_by_project_and_state")),
        migrations.AddIndex("item", models.Index(fields=["project", "key", "id"], name="item_by_project_and_key")),
    ]
