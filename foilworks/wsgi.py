"""The web process. It never imports torch, transformers, sentence_transformers or spaCy (tested)."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.settings")

application = get_wsgi_application()
