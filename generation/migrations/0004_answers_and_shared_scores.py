"""Answers and measures are kept for all runs; a score knows its run."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def name_the_runs(apps, schema_editor):
    scores = apps.get_model("generation", "FilterScore").objects.using(schema_editor.connection.alias)
    candidates = apps.get_model("generation", "Candidate").objects.using(schema_editor.connection.alias)
    run = candidates.filter(pk=OuterRef("candidate_id")).values("group__run_id")[:1]
    scores.update(run_id=Subquery(run))
    if schema_editor.connection.vendor == "postgresql":
        # A table with checks that are still to be made cannot be altered.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):
    dependencies = [
        ("generation", "0003_thresholds_and_selections"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Scorer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sha256", models.CharField(max_length=64, unique=True)),
                ("filter", models.CharField(max_length=40)),
                ("filter_version", models.CharField(max_length=20)),
                ("params", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="Measure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("pair_sha256", models.CharField(max_length=64)),
                ("values", models.JSONField()),
                (
                    "scorer",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="measures",
                        to="generation.scorer",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("scorer", "pair_sha256"), name="one_measure_a_pair")],
            },
        ),
        migrations.CreateModel(
            name="ModelAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sha256", models.CharField(max_length=64, unique=True)),
                ("text", models.TextField()),
                ("cut", models.BooleanField(default=False)),
                ("model_id", models.CharField(max_length=200)),
                ("model_revision", models.CharField(blank=True, max_length=64)),
                ("prompt_tokens", models.PositiveIntegerField(default=0)),
                ("completion_tokens", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="PromptTemplate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("slug", models.SlugField(max_length=40)),
                ("version", models.PositiveIntegerField()),
                ("system", models.TextField(blank=True)),
                ("question", models.TextField()),
                ("examples", models.JSONField(blank=True, default=list)),
                ("sha256", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prompt_templates",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "ordering": ["slug", "-version"],
                "constraints": [
                    models.UniqueConstraint(fields=("project", "slug", "version"), name="one_prompt_a_version")
                ],
            },
        ),
        migrations.CreateModel(
            name="RunCost",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("requests", models.PositiveIntegerField(default=0)),
                ("prompt_tokens", models.PositiveBigIntegerField(default=0)),
                ("completion_tokens", models.PositiveBigIntegerField(default=0)),
                ("reused", models.PositiveIntegerField(default=0)),
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="cost",
                        to="generation.generationrun",
                    ),
                ),
            ],
        ),
        migrations.AddField("candidategroup", "missing", models.JSONField(blank=True, default=list)),
        migrations.AddField("candidategroup", "unanswered", models.BooleanField(default=False)),
        migrations.AddField("generationrun", "missing", models.JSONField(blank=True, default=dict)),
        migrations.AddIndex(
            "candidategroup",
            models.Index(condition=models.Q(("unanswered", True)), fields=["run"], name="group_without_answer"),
        ),
        migrations.AddField(
            "filterscore",
            "run",
            models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="filter_scores",
                to="generation.generationrun",
            ),
        ),
        migrations.AddField(
            "filterscore",
            "measure",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="generation.measure",
            ),
        ),
        migrations.RunPython(name_the_runs, migrations.RunPython.noop),
        migrations.AlterField(
            "filterscore",
            "run",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="filter_scores",
                to="generation.generationrun",
            ),
        ),
        migrations.AddIndex(
            "filterscore", models.Index(fields=["run", "filter", "score", "passed"], name="scores_of_a_run")
        ),
    ]
