"""Define the addresses of exports."""

from django.urls import path

from foilworks.site.exports.views import export

app_name = "exports"
urlpatterns = [
    path("projects/<slug:slug>/releases/<int:pk>/export/<slug:exporter>/", export, name="export"),
]
