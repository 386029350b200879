"""Addresses of reports and of analyses of models."""

from django.urls import path

from evaluation.reports.views import analyses, reports

app_name = "reports"
urlpatterns = [
    path("projects/<slug:slug>/reports/", reports.reports, name="reports"),
    path("projects/<slug:slug>/reports/<slug:kind>/", reports.report, name="report"),
    path("projects/<slug:slug>/reports/<slug:kind>/compute/", reports.report_ask, name="report_ask"),
    path("projects/<slug:slug>/reports/<slug:kind>/progress/", reports.report_progress, name="report_progress"),
    path("projects/<slug:slug>/reports/<slug:kind>/download.<slug:extension>", reports.report_file, name="report_file"),
    path("projects/<slug:slug>/reports/<slug:kind>/<slug:chart>.svg", reports.report_chart, name="report_chart"),
    path("projects/<slug:slug>/releases/<int:pk>/analyses/<slug:kind>/", analyses.analysis, name="analysis"),
    path(
        "projects/<slug:slug>/releases/<int:pk>/analyses/<slug:kind>/download.<slug:extension>",
        analyses.analysis_file,
        name="analysis_file",
    ),
]
