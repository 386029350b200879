"""Videos of a project: their list, a page each, the file itself."""

from django.urls import path

from corpus.views.subtests import subtests
from corpus.views.video import media, video, videos, warning

app_name = "corpus"
urlpatterns = [
    path("projects/<slug:slug>/subtests/", subtests, name="subtests"),
    path("projects/<slug:slug>/videos/", videos, name="videos"),
    path("projects/<slug:slug>/videos/<int:pk>/", video, name="video"),
    path("projects/<slug:slug>/videos/<int:pk>/media/", media, name="media"),
    path("projects/<slug:slug>/videos/<int:pk>/warning/", warning, name="video_warning"),
]
