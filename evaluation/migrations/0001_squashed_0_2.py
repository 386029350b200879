"""The tables of 0.1.0 (4fafc4b), in place of the migrations that led to them."""

import django.db.models.deletion
import foilworks.site.publishing.models
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("evaluation", "0001_initial"),
        ("evaluation", "0002_initial"),
        ("evaluation", "0003_model_cards"),
        ("evaluation", "0004_imports"),
        ("evaluation", "0005_report_jobs"),
        ("evaluation", "0006_semantic_proximity"),
        ("evaluation", "0007_blind_audit"),
        ("evaluation", "0008_trusted_models"),
        ("evaluation", "0009_teacher_trainings"),
        ("evaluation", "0010_utd"),
        ("evaluation", "0011_publishing"),
        ("evaluation", "0012_imports_may_update"),
        ("evaluation", "0013_work_that_is_asked_for"),
        ("evaluation", "0014_hash_of_a_public_archive"),
        ("evaluation", "0015_no_index_twice"),
    ]

    dependencies = [
        ("corpus", "0001_squashed_0_2"),
        ("generation", "0001_squashed_0_2"),
        ("jobs", "0001_squashed_0_2"),
        ("projects", "0001_squashed_0_2"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="TextSource",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sha256", models.CharField(max_length=64, unique=True)),
                ("spec", models.CharField(max_length=500)),
                ("settings", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="Descriptions",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("name", models.CharField(max_length=120)),
                ("describer", models.CharField(max_length=500)),
                ("extractor", models.CharField(blank=True, max_length=500)),
                ("params", models.JSONField(default=dict)),
                ("problems", models.JSONField(blank=True, default=dict)),
                ("described_at", models.DateTimeField(blank=True, null=True)),
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
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="descriptions", to="projects.project"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="BiasRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("name", models.CharField(max_length=120)),
                (
                    "task",
                    models.CharField(
                        choices=[("classification", "classification"), ("retrieval", "retrieval")],
                        default="classification",
                        max_length=14,
                    ),
                ),
                ("labels", models.CharField(blank=True, max_length=100)),
                ("encoder", models.CharField(blank=True, max_length=500)),
                ("encoder_key", models.CharField(blank=True, max_length=300)),
                ("params", models.JSONField(default=dict)),
                ("result", models.JSONField(blank=True, null=True)),
                ("predictions", models.JSONField(blank=True, null=True)),
                ("measured_at", models.DateTimeField(blank=True, null=True)),
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
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="bias_runs", to="projects.project"
                    ),
                ),
                (
                    "descriptions",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="bias_runs",
                        to="evaluation.descriptions",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Import",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("format", models.CharField(blank=True, max_length=40)),
                ("params", models.JSONField(blank=True, default=dict)),
                ("file_name", models.CharField(blank=True, max_length=200)),
                ("n_videos", models.PositiveIntegerField(default=0)),
                ("update", models.BooleanField(default=False)),
                ("preview", models.JSONField(blank=True, null=True)),
                ("result", models.JSONField(blank=True, null=True)),
                ("confirmed_at", models.DateTimeField(blank=True, null=True)),
                ("discarded_at", models.DateTimeField(blank=True, null=True)),
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
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="imports", to="projects.project"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ItemCheck",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("encoder", models.CharField(max_length=500)),
                ("encoder_key", models.CharField(blank=True, max_length=300)),
                ("params", models.JSONField(default=dict)),
                ("checked_at", models.DateTimeField(blank=True, null=True)),
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
                    "descriptions",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="item_checks",
                        to="evaluation.descriptions",
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ProximityRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("model", models.CharField(max_length=500)),
                ("name", models.CharField(max_length=60)),
                ("device", models.CharField(default="auto", max_length=12)),
                ("measured_at", models.DateTimeField(blank=True, null=True)),
                (
                    "antonyms",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="generation.scorer",
                    ),
                ),
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
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job"
                    ),
                ),
                (
                    "release",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="proximities", to="corpus.release"
                    ),
                ),
                (
                    "scorer",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="generation.scorer",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="PublicationFacts",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("title", models.CharField(blank=True, max_length=300)),
                ("authors", models.TextField(blank=True)),
                ("abstract", models.TextField(blank=True)),
                ("year", models.CharField(blank=True, max_length=4)),
                ("doi", models.CharField(blank=True, max_length=200)),
                ("url", models.URLField(blank=True, max_length=500)),
                ("licence", models.CharField(blank=True, max_length=200)),
                ("licence_url", models.URLField(blank=True, max_length=500)),
                ("contact", models.CharField(blank=True, max_length=200)),
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="publication", to="projects.project"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PublicPage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(default=foilworks.site.publishing.models.new_key, max_length=40, unique=True)),
                ("is_open", models.BooleanField(default=False)),
                ("offers_export", models.BooleanField(default=False)),
                ("takes_scores", models.BooleanField(default=False)),
                ("archive", models.FileField(blank=True, max_length=300, upload_to="")),
                ("archive_print", models.CharField(blank=True, max_length=64)),
                ("archive_manifest", models.CharField(blank=True, db_default="", default="", max_length=64)),
                ("archive_made_at", models.DateTimeField(blank=True, null=True)),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "job",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="jobs.job",
                    ),
                ),
                (
                    "opened_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "release",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="public_page", to="corpus.release"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ReleaseChangelog",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("data", models.JSONField()),
                (
                    "release",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="changelog", to="corpus.release"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ReleaseGate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("data", models.JSONField()),
                ("override", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "overridden_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "release",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="gate", to="corpus.release"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("spec", models.CharField(max_length=500)),
                ("label", models.CharField(max_length=120)),
                ("model_key", models.CharField(blank=True, max_length=300)),
                ("protocol", models.CharField(default="foilworks", max_length=40)),
                ("device", models.CharField(default="auto", max_length=12)),
                ("params", models.JSONField(blank=True, default=dict)),
                ("problems", models.JSONField(blank=True, default=dict)),
                ("scored_at", models.DateTimeField(blank=True, null=True)),
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
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job"
                    ),
                ),
                (
                    "release",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="corpus.release"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Score",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model_key", models.CharField(max_length=300)),
                ("protocol", models.CharField(max_length=40)),
                ("clip_key", models.CharField(blank=True, max_length=200)),
                ("text_sha256", models.CharField(max_length=64)),
                ("value", models.FloatField()),
                ("kind", models.CharField(max_length=20)),
                ("higher_is_better", models.BooleanField(default=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("model_key", "protocol", "clip_key", "text_sha256"), name="one_score_a_text"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ShortcutBar",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("share", models.FloatField()),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "changed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="shortcut_bar", to="projects.project"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="TeacherTraining",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("label", models.CharField(max_length=120)),
                ("student", models.CharField(max_length=500)),
                ("params", models.JSONField(blank=True, default=dict)),
                ("seed", models.BigIntegerField(default=0)),
                ("sources", models.JSONField(blank=True, default=dict)),
                ("model_spec", models.CharField(blank=True, max_length=500)),
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
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="teacher_trainings",
                        to="projects.project",
                    ),
                ),
                (
                    "release",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="corpus.release",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="BenchmarkedModel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("label", models.CharField(max_length=120)),
                ("source", models.CharField(blank=True, max_length=500)),
                ("right", models.JSONField(default=dict)),
                ("details", models.JSONField(blank=True, default=dict)),
                ("scored_at", models.DateTimeField(blank=True, null=True)),
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
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="benchmarked",
                        to="evaluation.biasrun",
                    ),
                ),
            ],
            options={
                "ordering": ["label", "id"],
                "abstract": False,
                "constraints": [models.UniqueConstraint(fields=("run", "label"), name="one_benchmarked_model_a_label")],
            },
        ),
        migrations.CreateModel(
            name="BlindScorer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("spec", models.CharField(max_length=500)),
                ("device", models.CharField(default="auto", max_length=12)),
                ("label", models.CharField(max_length=120)),
                ("model_key", models.CharField(blank=True, max_length=300)),
                ("scored_at", models.DateTimeField(blank=True, null=True)),
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
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="blind_scorers",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "ordering": ["label", "id"],
                "abstract": False,
                "constraints": [models.UniqueConstraint(fields=("project", "spec"), name="one_scorer_a_spec")],
            },
        ),
        migrations.CreateModel(
            name="DatasheetAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("question", models.CharField(max_length=60)),
                ("text", models.TextField()),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "changed_by",
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
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="datasheet_answers",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "question"), name="one_answer_a_question")],
            },
        ),
        migrations.CreateModel(
            name="ItemShortcut",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("texts_sha256", models.CharField(max_length=64)),
                ("objects_right", models.PositiveSmallIntegerField()),
                ("frame_right", models.BooleanField()),
                (
                    "check_of",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="found",
                        to="evaluation.itemcheck",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="shortcuts", to="corpus.item"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("check_of", "item"), name="one_shortcut_an_item")],
            },
        ),
        migrations.CreateModel(
            name="ModelCard",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model_key", models.CharField(max_length=300)),
                (
                    "category",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "not stated"),
                            ("text", "text only"),
                            ("image", "image and text"),
                            ("video", "video and text"),
                        ],
                        max_length=5,
                        verbose_name="category",
                    ),
                ),
                (
                    "adaptation",
                    models.CharField(
                        blank=True,
                        choices=[("", "not stated"), ("zero_shot", "zero-shot"), ("fine_tuned", "fine-tuned")],
                        max_length=10,
                        verbose_name="adaptation",
                    ),
                ),
                (
                    "size",
                    models.CharField(
                        blank=True, help_text="Parameters, such as 151 M.", max_length=60, verbose_name="size"
                    ),
                ),
                ("pretraining_data", models.CharField(blank=True, max_length=500, verbose_name="pretraining data")),
                (
                    "objectives",
                    models.CharField(
                        blank=True,
                        help_text="Such as contrastive, matching, captioning.",
                        max_length=500,
                        verbose_name="objectives",
                    ),
                ),
                (
                    "url",
                    models.URLField(
                        blank=True, help_text="Where the model is described.", max_length=500, verbose_name="address"
                    ),
                ),
                ("notes", models.TextField(blank=True, max_length=2000, verbose_name="notes")),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="model_cards",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "model_key"), name="one_card_a_model")],
            },
        ),
        migrations.CreateModel(
            name="ModelTrust",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=500)),
                ("remote_code", models.BooleanField(default=False)),
                ("other_weights", models.BooleanField(default=False)),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "changed_by",
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
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="trusted_models",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "name"), name="one_trust_a_model")],
            },
        ),
        migrations.CreateModel(
            name="Report",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=40)),
                ("params", models.JSONField(blank=True, default=dict)),
                ("params_key", models.CharField(blank=True, max_length=64)),
                ("fingerprint", models.CharField(blank=True, max_length=64)),
                ("data", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now=True)),
                (
                    "job",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="jobs.job",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reports",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "kind", "params_key"), name="one_report_a_kind")
                ],
            },
        ),
        migrations.CreateModel(
            name="SourceLicence",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("source_dataset", models.CharField(blank=True, max_length=100)),
                ("licence", models.CharField(blank=True, max_length=200)),
                ("url", models.URLField(blank=True, max_length=500)),
                ("notes", models.CharField(blank=True, max_length=500)),
                ("may_show", models.BooleanField(default=False)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="source_licences",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "source_dataset"), name="one_licence_a_source")
                ],
            },
        ),
        migrations.CreateModel(
            name="Submission",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("label", models.CharField(max_length=120)),
                ("sent_by", models.CharField(max_length=200)),
                ("contact", models.CharField(max_length=200)),
                ("url", models.URLField(blank=True, max_length=500)),
                ("notes", models.TextField(blank=True)),
                ("file_name", models.CharField(max_length=200)),
                ("path", models.CharField(max_length=300)),
                ("sha256", models.CharField(max_length=64)),
                ("n_items", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("accepted", "accepted"), ("refused", "refused")],
                        default="waiting",
                        max_length=8,
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
                    "release",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="submissions",
                        to="corpus.release",
                    ),
                ),
                (
                    "run",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="submission",
                        to="evaluation.run",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [models.UniqueConstraint(fields=("release", "sha256"), name="one_submission_a_file")],
            },
        ),
        migrations.CreateModel(
            name="TeacherReading",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("before", models.JSONField(blank=True, null=True)),
                ("after", models.JSONField(blank=True, null=True)),
                ("left_out", models.JSONField(blank=True, default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job"
                    ),
                ),
                (
                    "release",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus.release"
                    ),
                ),
                (
                    "training",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="readings",
                        to="evaluation.teachertraining",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [models.UniqueConstraint(fields=("training", "release"), name="one_reading_a_release")],
            },
        ),
        migrations.CreateModel(
            name="TeacherPoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("step", models.PositiveIntegerField()),
                ("loss", models.FloatField()),
                ("parts", models.JSONField(blank=True, default=dict)),
                ("rcad", models.FloatField(blank=True, null=True)),
                ("standard", models.FloatField(blank=True, null=True)),
                (
                    "training",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="points",
                        to="evaluation.teachertraining",
                    ),
                ),
            ],
            options={
                "ordering": ["training_id", "step"],
                "constraints": [models.UniqueConstraint(fields=("training", "step"), name="one_point_a_step")],
            },
        ),
        migrations.CreateModel(
            name="FrameText",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("place", models.PositiveSmallIntegerField()),
                ("time", models.FloatField(blank=True, null=True)),
                ("raw", models.JSONField(default=dict)),
                (
                    "descriptions",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="frames",
                        to="evaluation.descriptions",
                    ),
                ),
                (
                    "video",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="frame_texts", to="corpus.video"
                    ),
                ),
                (
                    "described_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="evaluation.textsource"
                    ),
                ),
                (
                    "extracted_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evaluation.textsource",
                    ),
                ),
            ],
            options={
                "ordering": ["video_id", "place"],
                "constraints": [
                    models.UniqueConstraint(fields=("descriptions", "video", "place"), name="one_text_a_frame")
                ],
            },
        ),
    ]
