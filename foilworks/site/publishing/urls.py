"""Define the addresses of public pages, of citation, terms and datasheet."""

from django.urls import path

from foilworks.site.publishing import card_views, datasheet_views, item_reports, views

app_name = "publishing"
urlpatterns = [
    path("projects/<slug:slug>/publication/", views.publication, name="publication"),
    path("projects/<slug:slug>/datasheet/", datasheet_views.datasheet, name="datasheet"),
    path("projects/<slug:slug>/datasheet/<str:question>/", datasheet_views.save_answer, name="save_answer"),
    path("projects/<slug:slug>/releases/<int:pk>/public/", views.public_page, name="public_page"),
    path(
        "projects/<slug:slug>/releases/<int:pk>/public/submissions/<int:submission>/",
        views.submission,
        name="submission",
    ),
    path("projects/<slug:slug>/releases/<int:pk>/reports/", item_reports.reports, name="item_reports"),
    path(
        "projects/<slug:slug>/releases/<int:pk>/public/<slug:move>/",
        views.public_page_move,
        name="public_page_move",
    ),
    path("projects/<slug:slug>/releases/<int:pk>/publish/", views.publish, name="publish"),
    path("projects/<slug:slug>/releases/<int:pk>/publish/folder.zip", views.publish_file, name="publish_file"),
    path("r/<slug:key>/", card_views.public_release, name="public_release"),
    path("r/<slug:key>/preview.png", card_views.public_preview, name="public_preview"),
    path("r/<slug:key>/data/", card_views.public_data, name="public_data"),
    path("r/<slug:key>/leaderboard/", card_views.public_leaderboard, name="public_leaderboard"),
    path("r/<slug:key>/embed/", card_views.public_embed, name="public_embed"),
    path("r/<slug:key>/validation/", card_views.public_validation, name="public_validation"),
    path("r/<slug:key>/versions/", card_views.public_versions, name="public_versions"),
    path("r/<slug:key>/videos/<int:position>/", views.public_video, name="public_video"),
    path("r/<slug:key>/strips/<int:position>/", views.public_strip, name="public_strip"),
    path("r/<slug:key>/export.zip", views.public_export, name="public_export"),
    path("r/<slug:key>/scores/", views.public_scores, name="public_scores"),
    path("r/<slug:key>/report/", item_reports.report, name="report"),
    path("r/<slug:key>/report/sent/", item_reports.report_sent, name="report_sent"),
    path("r/<slug:key>/scores/sent/", views.public_sent, name="public_sent"),
]
