from django.db import migrations, models
from django.db.models import F


def keep_lists(apps, schema_editor):
    """Keep what visitors saw: pages that were there listed items only with the export."""
    apps.get_model("evaluation", "PublicPage").objects.update(lists_items=F("offers_export"))


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0029_import_from_the_hub"),
    ]

    operations = [
        migrations.AddField(
            model_name="publicpage",
            name="lists_items",
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.RunPython(keep_lists, migrations.RunPython.noop),
    ]
