"""Addresses of reports and of analyses of models."""

from django.urls import path

from evaluation.reports.views.analyses import analysis, analysis_file
from evaluation.reports.views.reports import report, report_ask, report_chart, report_file, report_progress, reports

app_name = "reports"
urlpatterns = [
    path("projects/<slug:slug>/reports/", reports, name="reports"),
    path("projects/<slug:slug>/reports/<slug:kind>/", report, name="report"),
    path("projects/<slug:slug>/reports/<slug:kind>/compute/", report_ask, name="report_ask"),
    path("projects/<slug:slug>/reports/<slug:kind>/progress/", report_progress, name="report_progress"),
    path("projects/<slug:slug>/reports/<slug:kind>/download.<slug:extension>", report_file, name="report_file"),
    path("projects/<slug:slug>/reports/<slug:kind>/<slug:chart>.svg", report_chart, name="report_chart"),
    path("projects/<slug:slug>/releases/<int:pk>/analyses/<slug:kind>/", analysis, name="analysis"),
    path(
        "projects/<slug:slug>/releases/<int:pk>/analyses/<slug:kind>/download.<slug:extension>",
        analysis_file,
        name="analysis_file",
    ),
]
