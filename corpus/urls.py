"""Videos of a project: their list, a page each, the file itself."""

from django.urls import path

from corpus.views import subtests, video

app_name = "corpus"
urlpatterns = [
    path("projects/<slug:slug>/subtests/", subtests.subtests, name="subtests"),
    path("projects/<slug:slug>/videos/", video.videos, name="videos"),
    path("projects/<slug:slug>/videos/<int:pk>/", video.video, name="video"),
    path("projects/<slug:slug>/videos/<int:pk>/media/", video.media, name="media"),
    path("projects/<slug:slug>/videos/<int:pk>/warning/", video.warning, name="video_warning"),
]
