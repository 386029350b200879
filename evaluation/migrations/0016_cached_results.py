"""Rename the model of cached values; its table keeps its name."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0015_no_index_twice")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameModel("Report", "CachedResult"),
                migrations.AlterModelTable("CachedResult", "evaluation_report"),
            ]
        )
    ]
