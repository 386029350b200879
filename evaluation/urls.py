"""Overview of a project, reports, releases, scoring runs."""

from django.urls import path

from evaluation.bias.urls import urlpatterns as bias_urls
from evaluation.publishing.urls import urlpatterns as publishing_urls
from evaluation.teacher.urls import urlpatterns as teacher_urls
from evaluation.views.analyses import analysis, analysis_file
from evaluation.views.blind import blind_bars, blind_scorer
from evaluation.views.bring_scores import bring
from evaluation.views.changes import release_changes
from evaluation.views.compare import compare_file, compare_page
from evaluation.views.dashboard import dashboard, dashboard_count, dashboard_runs
from evaluation.views.erasure import erase, erase_worker
from evaluation.views.export import export
from evaluation.views.imports import confirm, discard, import_page, import_progress, new_import
from evaluation.views.items import item, item_move, items
from evaluation.views.leaderboard import leaderboard_file, leaderboard_page
from evaluation.views.model_card import model_card
from evaluation.views.proximity import proximity, proximity_progress
from evaluation.views.release import release, release_chart
from evaluation.views.releases import freeze, releases
from evaluation.views.report_files import report_chart, report_file
from evaluation.views.reports import report, report_ask, report_progress, reports
from evaluation.views.run import run, run_file, run_progress
from evaluation.views.run_scores import run_scores
from evaluation.views.run_work import resume_run, stop_run

app_name = "evaluation"
urlpatterns = [
    path("account/erase/", erase, name="erase"),
    path("projects/<slug:slug>/people/<int:pk>/erase/", erase_worker, name="erase_worker"),
    path("projects/<slug:slug>/", dashboard, name="dashboard"),
    path("projects/<slug:slug>/live/", dashboard_runs, name="dashboard_runs"),
    path("projects/<slug:slug>/count/", dashboard_count, name="dashboard_count"),
    path("projects/<slug:slug>/imports/", new_import, name="new_import"),
    path("projects/<slug:slug>/imports/<int:pk>/", import_page, name="import"),
    path("projects/<slug:slug>/imports/<int:pk>/progress/", import_progress, name="import_progress"),
    path("projects/<slug:slug>/imports/<int:pk>/confirm/", confirm, name="confirm_import"),
    path("projects/<slug:slug>/imports/<int:pk>/discard/", discard, name="discard_import"),
    path("projects/<slug:slug>/items/", items, name="items"),
    path("projects/<slug:slug>/items/<int:pk>/", item, name="item"),
    path("projects/<slug:slug>/items/<int:pk>/move/", item_move, name="item_move"),
    path("projects/<slug:slug>/reports/", reports, name="reports"),
    path("projects/<slug:slug>/reports/<slug:kind>/", report, name="report"),
    path("projects/<slug:slug>/reports/<slug:kind>/compute/", report_ask, name="report_ask"),
    path("projects/<slug:slug>/reports/<slug:kind>/progress/", report_progress, name="report_progress"),
    path("projects/<slug:slug>/reports/<slug:kind>/download.<slug:extension>", report_file, name="report_file"),
    path("projects/<slug:slug>/reports/<slug:kind>/<slug:chart>.svg", report_chart, name="report_chart"),
    path("projects/<slug:slug>/blind/bars/", blind_bars, name="blind_bars"),
    path("projects/<slug:slug>/blind/models/", blind_scorer, name="blind_scorer"),
    path("projects/<slug:slug>/releases/", releases, name="releases"),
    path("projects/<slug:slug>/releases/new/", freeze, name="freeze"),
    path("projects/<slug:slug>/releases/<int:pk>/", release, name="release"),
    path("projects/<slug:slug>/releases/<int:pk>/scores/", bring, name="bring_scores"),
    path("projects/<slug:slug>/releases/<int:pk>/scores.svg", release_chart, name="release_chart"),
    path("projects/<slug:slug>/releases/<int:pk>/export/<slug:exporter>/", export, name="export"),
    path("projects/<slug:slug>/releases/<int:pk>/leaderboard/", leaderboard_page, name="leaderboard"),
    path(
        "projects/<slug:slug>/releases/<int:pk>/leaderboard.<slug:extension>", leaderboard_file, name="leaderboard_file"
    ),
    path("projects/<slug:slug>/releases/<int:pk>/compare/", compare_page, name="compare"),
    path("projects/<slug:slug>/releases/<int:pk>/compare.csv", compare_file, name="compare_file"),
    path("projects/<slug:slug>/releases/<int:pk>/analyses/<slug:kind>/", analysis, name="analysis"),
    path(
        "projects/<slug:slug>/releases/<int:pk>/analyses/<slug:kind>/download.<slug:extension>",
        analysis_file,
        name="analysis_file",
    ),
    path("projects/<slug:slug>/releases/<int:pk>/proximity/", proximity, name="proximity"),
    path("projects/<slug:slug>/releases/<int:pk>/proximity/progress/", proximity_progress, name="proximity_progress"),
    path("projects/<slug:slug>/releases/<int:pk>/changes/", release_changes, name="release_changes"),
    path("projects/<slug:slug>/scoring/<int:pk>/", run, name="run"),
    path("projects/<slug:slug>/scoring/<int:pk>/scores/<slug:form>/", run_scores, name="run_scores"),
    path("projects/<slug:slug>/scoring/<int:pk>/card/", model_card, name="model_card"),
    path("projects/<slug:slug>/scoring/<int:pk>/progress/", run_progress, name="run_progress"),
    path("projects/<slug:slug>/scoring/<int:pk>/stop/", stop_run, name="stop_run"),
    path("projects/<slug:slug>/scoring/<int:pk>/resume/", resume_run, name="resume_run"),
    path("projects/<slug:slug>/scoring/<int:pk>/results.<slug:extension>", run_file, name="run_file"),
    *publishing_urls,
    *teacher_urls,
    *bias_urls,
]
