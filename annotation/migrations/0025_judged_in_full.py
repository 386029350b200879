"""Store which tasks of validation collect all votes although votes stop early, and the skill of validators."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0024_places_of_chosen_texts")]

    operations = [
        migrations.AddField(
            model_name="task",
            name="in_full",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="qualitypolicy",
            name="skill_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="standing",
            name="skill",
            field=models.FloatField(blank=True, null=True),
        ),
    ]
