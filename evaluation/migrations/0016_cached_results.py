"""Rename the model of cached values; its table keeps its name."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0001_squashed_0_2")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameModel("Report", "CachedResult"),
                migrations.AlterModelTable("CachedResult", "evaluation_report"),
            ]
        )
    ]
