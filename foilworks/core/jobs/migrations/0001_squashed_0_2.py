"""The tables of 0.1.0 (4fafc4b), in place of the migrations that led to them."""

import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("jobs", "0001_initial"),
        ("jobs", "0002_shards"),
        ("jobs", "0003_request_of_a_job"),
        ("jobs", "0004_losses_of_a_job"),
    ]

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("dotted", models.CharField(max_length=120)),
                ("target_id", models.BigIntegerField()),
                ("queue", models.CharField(default="default", max_length=20)),
                ("title", models.CharField(blank=True, max_length=200)),
                ("project_id", models.BigIntegerField(blank=True, null=True)),
                ("number", models.PositiveIntegerField(default=0)),
                ("payload", models.JSONField(blank=True, default=dict)),
                ("route", models.CharField(blank=True, max_length=600)),
                ("request_id", models.CharField(blank=True, db_default="", default="", max_length=64)),
                ("worker", models.CharField(blank=True, max_length=120)),
                ("measured", models.JSONField(blank=True, default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Running"),
                            ("spread", "Spread"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("done", models.PositiveBigIntegerField(default=0)),
                ("total", models.PositiveBigIntegerField(default=0)),
                ("message", models.CharField(blank=True, max_length=300)),
                ("error", models.TextField(blank=True)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("losses", models.PositiveIntegerField(db_default=0, default=0)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shards",
                        to="jobs.job",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["state", "queue"], name="job_state_queue"),
                    models.Index(fields=["project_id", "-created_at"], name="job_of_a_project"),
                ],
            },
        ),
    ]
