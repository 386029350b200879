"""The tables of 0.1.0 (4fafc4b), in place of the migrations that led to them."""

import foilworks.core.corpus.rules.states
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("generation", "0001_initial"),
        ("generation", "0002_initial"),
        ("generation", "0003_thresholds_and_selections"),
        ("generation", "0004_answers_and_shared_scores"),
        ("generation", "0005_captions_made_and_models_tuned"),
        ("generation", "0006_hints_and_unreviewed"),
        ("generation", "0007_what_detectors_saw"),
        ("generation", "0008_no_index_twice"),
    ]

    dependencies = [
        ("corpus", "0001_squashed_0_2"),
        ("jobs", "0001_squashed_0_2"),
        ("projects", "0001_squashed_0_2"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Measure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("pair_sha256", models.CharField(max_length=64)),
                ("values", models.JSONField()),
            ],
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
            name="CandidateGroup",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("skipped_why", models.CharField(blank=True, max_length=200)),
                ("missing", models.JSONField(blank=True, default=list)),
                ("unanswered", models.BooleanField(default=False)),
                ("tasked", models.BooleanField(default=False)),
                (
                    "caption",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="candidate_groups",
                        to="corpus.caption",
                    ),
                ),
                (
                    "item",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="candidate_group",
                        to="corpus.item",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Candidate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("rank", models.PositiveSmallIntegerField(default=0)),
                ("text", models.TextField()),
                ("text_sha256", models.CharField(max_length=64)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("generated", "generated"),
                            ("filtered_out", "filtered_out"),
                            ("queued", "queued"),
                            ("editing", "editing"),
                            ("in_review", "in_review"),
                            ("returned", "returned"),
                            ("accepted", "accepted"),
                            ("dropped", "dropped"),
                            ("superseded", "superseded"),
                        ],
                        default=foilworks.core.corpus.rules.states.CandidateState["GENERATED"],
                        max_length=12,
                    ),
                ),
                ("claimed_from", models.CharField(blank=True, max_length=12)),
                ("method", models.CharField(max_length=40)),
                ("method_version", models.CharField(max_length=20)),
                ("mode", models.CharField(blank=True, max_length=10)),
                ("model_id", models.CharField(blank=True, max_length=200)),
                ("model_revision", models.CharField(blank=True, max_length=64)),
                ("prompt_template", models.CharField(blank=True, max_length=100)),
                ("prompt_hash", models.CharField(blank=True, max_length=64)),
                ("seed", models.BigIntegerField(blank=True, null=True)),
                ("edits", models.JSONField(default=list)),
                ("span_start", models.PositiveIntegerField()),
                ("span_end", models.PositiveIntegerField()),
                ("source", models.TextField(blank=True)),
                ("target", models.TextField(blank=True)),
                ("facts", models.JSONField(blank=True, default=dict)),
                ("rejected_by", models.JSONField(blank=True, default=list)),
                ("held_back_by", models.CharField(blank=True, max_length=20)),
                ("unreviewed", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="candidates",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "foil",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="candidate",
                        to="corpus.foil",
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="children",
                        to="generation.candidate",
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="candidates",
                        to="generation.candidategroup",
                    ),
                ),
            ],
            options={
                "ordering": ["group_id", "rank", "id"],
            },
        ),
        migrations.CreateModel(
            name="CaptionRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("maker", models.CharField(max_length=40)),
                ("maker_version", models.CharField(blank=True, max_length=20)),
                ("mode", models.CharField(default="corrected", max_length=10)),
                ("params", models.JSONField(blank=True, default=dict)),
                ("seed", models.BigIntegerField(default=0)),
                (
                    "sources",
                    models.CharField(
                        choices=[
                            ("captions", "the captions that are there (sentences, templates)"),
                            ("videos", "videos without a caption (their class label)"),
                        ],
                        default="captions",
                        max_length=8,
                    ),
                ),
                ("split", models.CharField(blank=True, max_length=5)),
                ("last_source", models.BigIntegerField(default=0)),
                ("preview", models.JSONField(blank=True, null=True)),
                ("asked_at", models.DateTimeField(blank=True, null=True)),
                ("cursor", models.BigIntegerField(default=0)),
                ("stored", models.PositiveIntegerField(default=0)),
                ("known", models.PositiveIntegerField(default=0)),
                ("skipped", models.JSONField(blank=True, default=dict)),
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
                        on_delete=django.db.models.deletion.CASCADE, related_name="caption_runs", to="projects.project"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="GenerationRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("method", models.CharField(max_length=40)),
                ("method_version", models.CharField(max_length=20)),
                ("mode", models.CharField(default="corrected", max_length=10)),
                ("params", models.JSONField(blank=True, default=dict)),
                ("filters", models.JSONField(blank=True, default=list)),
                ("seed", models.BigIntegerField(default=0)),
                ("selection", models.JSONField(blank=True, default=dict)),
                ("thresholds", models.JSONField(blank=True, default=dict)),
                ("skipped", models.JSONField(blank=True, default=dict)),
                ("missing", models.JSONField(blank=True, default=dict)),
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
                        related_name="generation_runs",
                        to="projects.project",
                    ),
                ),
                (
                    "subtest",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="generation_runs", to="corpus.subtest"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="candidategroup",
            name="run",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="groups",
                to="generation.generationrun",
            ),
        ),
        migrations.CreateModel(
            name="Hint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField()),
                ("text_sha256", models.CharField(max_length=64)),
                ("spec", models.CharField(max_length=500)),
                ("model_key", models.CharField(blank=True, max_length=300)),
                ("value", models.FloatField(blank=True, null=True)),
                ("of_caption", models.FloatField(blank=True, null=True)),
                ("kind", models.CharField(blank=True, max_length=20)),
                ("higher_is_better", models.BooleanField(default=True)),
                ("problem", models.CharField(blank=True, max_length=300)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "caption",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="hints",
                        to="corpus.caption",
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="HintModel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("spec", models.CharField(max_length=500)),
                ("enabled", models.BooleanField(default=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
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
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="hint_model", to="projects.project"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="HintShown",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "hint",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shown",
                        to="generation.hint",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FilterScore",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("filter", models.CharField(max_length=40)),
                ("filter_version", models.CharField(max_length=20)),
                ("score", models.FloatField(blank=True, null=True)),
                ("passed", models.BooleanField()),
                ("detail", models.CharField(blank=True, max_length=300)),
                (
                    "candidate",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="filter_scores",
                        to="generation.candidate",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="filter_scores",
                        to="generation.generationrun",
                    ),
                ),
                (
                    "measure",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="generation.measure",
                    ),
                ),
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
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prompt_templates",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "ordering": ["slug", "-version"],
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
                        on_delete=django.db.models.deletion.CASCADE, related_name="cost", to="generation.generationrun"
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="measure",
            name="scorer",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="measures",
                to="generation.scorer",
            ),
        ),
        migrations.CreateModel(
            name="Selection",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("balance", "balanced selection"),
                            ("frequency", "frequency matching"),
                            ("adversarial", "adversarial refinement"),
                        ],
                        max_length=12,
                    ),
                ),
                ("params", models.JSONField(blank=True, default=dict)),
                ("seed", models.BigIntegerField(default=0)),
                ("result", models.JSONField(blank=True, null=True)),
                ("lost", models.JSONField(blank=True, default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("applied_at", models.DateTimeField(blank=True, null=True)),
                ("moved", models.JSONField(blank=True, default=dict)),
                (
                    "applied_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
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
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="selections", to="projects.project"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="selections",
                        to="generation.generationrun",
                    ),
                ),
                (
                    "subtest",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="selections", to="corpus.subtest"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="Sighting",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=64)),
                ("model_id", models.CharField(max_length=200)),
                ("model_revision", models.CharField(max_length=64)),
                ("labels", models.JSONField(default=dict)),
                (
                    "video",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sightings",
                        to="corpus.video",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Tuning",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("base_model", models.CharField(max_length=300)),
                ("params", models.JSONField(blank=True, default=dict)),
                ("seed", models.BigIntegerField(default=0)),
                ("last_caption", models.BigIntegerField(default=0)),
                ("captions", models.PositiveIntegerField(default=0)),
                ("steps", models.PositiveIntegerField(default=0)),
                ("losses", models.JSONField(blank=True, default=list)),
                ("folder", models.CharField(blank=True, max_length=200)),
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
                        on_delete=django.db.models.deletion.CASCADE, related_name="tunings", to="projects.project"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "abstract": False,
            },
        ),
        migrations.AddIndex(
            model_name="candidate",
            index=models.Index(fields=["group", "state"], name="candidate_state"),
        ),
        migrations.AddIndex(
            model_name="candidategroup",
            index=models.Index(condition=models.Q(("tasked", False)), fields=["run"], name="group_without_tasks"),
        ),
        migrations.AddIndex(
            model_name="candidategroup",
            index=models.Index(condition=models.Q(("unanswered", True)), fields=["run"], name="group_without_answer"),
        ),
        migrations.AddConstraint(
            model_name="candidategroup",
            constraint=models.UniqueConstraint(fields=("run", "caption"), name="one_group_a_caption_in_a_run"),
        ),
        migrations.AddConstraint(
            model_name="hint",
            constraint=models.UniqueConstraint(fields=("caption", "text_sha256", "spec"), name="one_hint_a_text"),
        ),
        migrations.AddConstraint(
            model_name="hintshown",
            constraint=models.UniqueConstraint(fields=("hint", "person"), name="one_hint_a_person"),
        ),
        migrations.AddIndex(
            model_name="filterscore",
            index=models.Index(fields=["run", "filter", "score", "passed"], name="scores_of_a_run"),
        ),
        migrations.AddConstraint(
            model_name="filterscore",
            constraint=models.UniqueConstraint(fields=("candidate", "filter"), name="one_score_a_filter"),
        ),
        migrations.AddConstraint(
            model_name="prompttemplate",
            constraint=models.UniqueConstraint(fields=("project", "slug", "version"), name="one_prompt_a_version"),
        ),
        migrations.AddConstraint(
            model_name="measure",
            constraint=models.UniqueConstraint(fields=("scorer", "pair_sha256"), name="one_measure_a_pair"),
        ),
        migrations.AddConstraint(
            model_name="sighting",
            constraint=models.UniqueConstraint(fields=("video", "key"), name="one_sighting_a_video_and_key"),
        ),
    ]
