"""Whether a person judges only one of the pairs that share a sentence of a clip: on for new projects.

A project that collects votes already stays as it is, or its people could run out of work at once.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0009_rate_limit_counters")]

    operations = [
        migrations.AddField("Project", "judge_caption_once", models.BooleanField(default=True, db_default=False)),
    ]
