"""Start the web process. It never imports torch, transformers, sentence_transformers or spaCy (tested)."""

import os

# The statistics of pages use it by its full name, and would load it at the first request.
import scipy.special  # noqa: F401
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from foilworks.site.server.gc_freeze import lasting
from foilworks.site.server.whole_bodies import with_whole_bodies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")

# Forked processes share the memory of what is loaded here (decision 118).
with lasting():
    application = with_whole_bodies(get_wsgi_application())
    # Load all pages now; otherwise the first request would.
    _ = get_resolver().url_patterns
