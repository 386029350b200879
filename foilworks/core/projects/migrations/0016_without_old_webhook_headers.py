"""Remove the headers of webhooks from before 0.3 (decision 131)."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("projects", "0015_rotation_of_webhook_secrets")]

    operations = [migrations.RemoveField("Webhook", "legacy_salt")]
