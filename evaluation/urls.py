"""Overview of a project, reports, releases, scoring runs."""

from django.urls import path

from evaluation.views.dashboard import dashboard, dashboard_runs

app_name = "evaluation"
urlpatterns = [
    path("projects/<slug:slug>/", dashboard, name="dashboard"),
    path("projects/<slug:slug>/live/", dashboard_runs, name="dashboard_runs"),
]
