"""Rename the model of rate limits; its table keeps its name."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("projects", "0001_squashed_0_2")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameModel("Tries", "RateLimitCounter"),
                migrations.AlterModelTable("RateLimitCounter", "projects_tries"),
            ]
        )
    ]
