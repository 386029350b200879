"""Notifications of people, what they chose about them, and how far the audit trail was read."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0013_archived_and_deleted_projects"),
    ]

    operations = [
        migrations.CreateModel(
            name="NotificationCursor",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("event_id", models.BigIntegerField()),
                ("at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="NotificationSettings",
            fields=[
                (
                    "person",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="notification_settings",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "mail",
                    models.CharField(
                        choices=[("off", "Never"), ("daily", "Daily"), ("at_once", "As they arrive")],
                        default="off",
                        max_length=7,
                    ),
                ),
                ("channels", models.JSONField(default=dict)),
                ("changed_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("next_mail_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="Notification",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=20)),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("annotator", "annotator"),
                            ("reviewer", "reviewer"),
                            ("validator", "validator"),
                            ("researcher", "researcher"),
                        ],
                        max_length=12,
                    ),
                ),
                ("key", models.CharField(max_length=80)),
                ("facts", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("read_at", models.DateTimeField(blank=True, null=True)),
                ("mailed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notifications",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="projects.project"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["person", "-id"], name="notification_of_a_person"),
                    models.Index(condition=models.Q(("read_at", None)), fields=["person"], name="notification_unread"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("person", "kind", "key"), name="one_notification_once")
                ],
            },
        ),
    ]
