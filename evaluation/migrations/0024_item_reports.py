"""Store reports of visitors about released items."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0019_holdback"),
        ("evaluation", "0023_objectives_help"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ItemReport",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "why",
                    models.CharField(
                        choices=[
                            ("caption", "the caption is false"),
                            ("foil", "a foil is true"),
                            ("text", "a text has errors"),
                            ("video", "the video does not play or is another one"),
                            ("other", "another reason"),
                        ],
                        max_length=7,
                    ),
                ),
                ("text", models.CharField(blank=True, max_length=500)),
                ("contact", models.CharField(blank=True, max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("asked", "new votes"), ("dismissed", "dismissed")],
                        default="waiting",
                        max_length=9,
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                ("sent_at", models.DateTimeField(auto_now_add=True)),
                (
                    "decided_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reports", to="corpus.releaseitem"
                    ),
                ),
                (
                    "release",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reports",
                        to="corpus.release",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["release", "state"], name="report_state")],
            },
        ),
    ]
