"""Store why a task was skipped, if the person says so."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0022_plain_words")]

    operations = [
        migrations.AddField(
            model_name="lease",
            name="skip_reason",
            field=models.CharField(
                blank=True,
                choices=[
                    ("playback", "The video does not play"),
                    ("unclear", "A sentence is unclear"),
                    ("unsure", "I cannot decide"),
                    ("unfamiliar", "I do not know enough about the topic"),
                    ("other", "Another reason"),
                ],
                db_default="",
                default="",
                max_length=10,
            ),
        ),
    ]
