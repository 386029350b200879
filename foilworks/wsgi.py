"""Start the web process. It never imports torch, transformers, sentence_transformers or spaCy (tested)."""

import gc
import os

import scipy.special  # noqa: F401
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from foilworks.whole_bodies import with_whole_bodies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.settings")

application = with_whole_bodies(get_wsgi_application())
# Load all pages now, and the statistics that they import when they need them; otherwise the first request would.
_ = get_resolver().url_patterns
# Modules loaded now stay: the garbage collector need not scan them again.
gc.freeze()
