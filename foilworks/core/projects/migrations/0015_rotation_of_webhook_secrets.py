"""Secrets of webhooks can be rotated; webhooks from before get the headers of that time until 0.4."""

from django.db import migrations, models
from django.db.models import F


def keep_old_headers(apps, schema_editor):
    """Their receivers check `X-Foilworks-Signature` with the secret that they have."""
    apps.get_model("projects", "Webhook").objects.update(legacy_salt=F("salt"))


class Migration(migrations.Migration):
    dependencies = [("projects", "0014_notifications")]

    operations = [
        migrations.AddField(
            "Webhook", "old_salt", models.CharField(blank=True, db_default="", default="", max_length=64)
        ),
        migrations.AddField("Webhook", "old_salt_until", models.DateTimeField(blank=True, null=True)),
        migrations.AddField(
            "Webhook", "legacy_salt", models.CharField(blank=True, db_default="", default="", max_length=64)
        ),
        migrations.RunPython(keep_old_headers, migrations.RunPython.noop),
    ]
