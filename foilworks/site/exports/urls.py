"""Define the addresses of exports."""

from django.urls import path

from foilworks.site.exports.views import export, export_file, exports

app_name = "exports"
urlpatterns = [
    path("projects/<slug:slug>/releases/<int:pk>/export/<slug:exporter>/", export, name="export"),
    path("projects/<slug:slug>/releases/<int:pk>/exports/", exports, name="exports"),
    path("projects/<slug:slug>/releases/<int:pk>/exports/<int:row_pk>/file/", export_file, name="export_file"),
]
