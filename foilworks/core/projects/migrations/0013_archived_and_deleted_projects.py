"""When a project was archived, and when it was deleted: both can be undone."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0012_plain_words")]

    operations = [
        migrations.AddField("Project", "archived_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("Project", "deleted_at", models.DateTimeField(blank=True, null=True)),
    ]
