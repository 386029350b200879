"""Replace mail "as they arrive" by daily mail (decision 131)."""

from django.db import migrations, models


def choose_daily_mail(apps, schema_editor):
    """Give daily mail to those who chose mail as notifications arrive. The next one is due as before."""
    apps.get_model("projects", "NotificationSettings").objects.filter(mail="at_once").update(mail="daily")


class Migration(migrations.Migration):
    dependencies = [("projects", "0016_without_old_webhook_headers")]

    operations = [
        # The other way, people keep daily mail, which 0.3 has too.
        migrations.RunPython(choose_daily_mail, migrations.RunPython.noop),
        migrations.AlterField(
            "NotificationSettings",
            "mail",
            models.CharField(choices=[("off", "Never"), ("daily", "Daily")], default="off", max_length=7),
        ),
    ]
