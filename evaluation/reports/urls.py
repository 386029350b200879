"""Define the addresses of reports and of analyses of models."""

from django.urls import path

from evaluation.reports import views

app_name = "reports"
urlpatterns = [
    path("projects/<slug:slug>/reports/", views.reports, name="reports"),
    path("projects/<slug:slug>/reports/<slug:kind>/", views.report, name="report"),
    path("projects/<slug:slug>/reports/fair/repair/", views.repair, name="repair"),
    path("projects/<slug:slug>/reports/<slug:kind>/compute/", views.report_ask, name="report_ask"),
    path("projects/<slug:slug>/reports/<slug:kind>/progress/", views.report_progress, name="report_progress"),
    path("projects/<slug:slug>/reports/<slug:kind>/download.<slug:extension>", views.report_file, name="report_file"),
    path("projects/<slug:slug>/reports/<slug:kind>/<slug:chart>.svg", views.report_chart, name="report_chart"),
    path("projects/<slug:slug>/releases/<int:pk>/analyses/<slug:kind>/", views.analysis, name="analysis"),
    path(
        "projects/<slug:slug>/releases/<int:pk>/analyses/<slug:kind>/download.<slug:extension>",
        views.analysis_file,
        name="analysis_file",
    ),
]
