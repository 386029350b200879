"""Rename the state of stored items and the verdict of stored foils: "split" becomes "disputed".

Each table changes in one statement and one transaction of its own, and no row is read into memory. It can be run again.
"""

from collections.abc import Callable
from typing import Any

from django.db import migrations


def rename(model: str, field: str, old: str, new: str) -> Callable[[Any, Any], None]:
    def run(apps: Any, schema_editor: Any) -> None:
        rows = apps.get_model("corpus", model)._base_manager.using(schema_editor.connection.alias)
        rows.filter(**{field: old}).update(**{field: new})

    return run


def both_ways(model: str, field: str) -> migrations.RunPython:
    return migrations.RunPython(
        rename(model, field, "split", "disputed"), rename(model, field, "disputed", "split"), atomic=True
    )


class Migration(migrations.Migration):
    # The operations are atomic, each by itself: nobody waits for one table while the other is written.
    atomic = False

    dependencies = [
        ("corpus", "0011_disputed_choices"),
    ]

    operations = [
        both_ways("item", "state"),
        both_ways("foil", "verdict"),
    ]
