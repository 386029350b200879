from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0018_targets_of_renamed_models")]

    operations = [
        migrations.AddField("blindscorer", "at_limit", models.JSONField(blank=True, db_default={}, default=dict)),
        migrations.AddField("proximityrun", "problems", models.JSONField(blank=True, db_default={}, default=dict)),
    ]
