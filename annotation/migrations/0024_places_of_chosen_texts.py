"""Store which text of a multiple-choice item a validator chose."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0023_reasons_of_skips")]

    operations = [
        migrations.AddField(
            model_name="vote",
            name="chosen_place",
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
    ]
