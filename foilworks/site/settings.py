"""Read all settings from the environment and one `.env` file. No other module of the project does."""

import os
import platform
import re
import secrets
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from platformdirs import user_data_path

from foilworks.clashes import APPS, require_own_packages
from foilworks.site import private_files, service_urls, setting_values
from foilworks.site.supervisor.redis_socket import redis_socket_path

require_own_packages(*APPS)
# `foilworks --environment FILE` names a file of variables. Libraries and child processes read them, too.
ENVIRONMENT_FILE = os.environ.get("FOILWORKS_ENVIRONMENT", "").strip()
if ENVIRONMENT_FILE:
    for _name, _value in setting_values.variables(Path(ENVIRONMENT_FILE)).items():
        os.environ.setdefault(_name, _value)
PACKAGE = Path(__file__).resolve().parent
# The folder of all packages: a clone, or the site-packages that pip installed into.
BASE_DIR = PACKAGE.parent.parent
IN_CLONE = (BASE_DIR / "manage.py").is_file()
DEFAULT_HOME = BASE_DIR / "var" if IN_CLONE else user_data_path("foilworks", appauthor=False)
_ENV_FOLDERS = (BASE_DIR,) if IN_CLONE else (Path(), Path(os.environ.get("FOILWORKS_HOME", "").strip() or DEFAULT_HOME))
# The `.env` files that count if they exist. Only the first one that exists is read.
ENV_FILES = tuple(folder / ".env" for folder in _ENV_FOLDERS)
# Check `access` first: if the working directory is closed to this user, `is_file` raises.
ENV_FILE = next((path.resolve() for path in ENV_FILES if os.access(path, os.F_OK) and path.is_file()), None)


_ENVIRONMENT = {**(setting_values.variables(ENV_FILE) if ENV_FILE else {}), **os.environ}
# Name today -> name in 0.3.0, which works until 0.5 (docs/decisions/0065-compatibility.md).
RENAMED: dict[str, str] = {}


def _env(name: str, default: str = "") -> str:
    setting = _ENVIRONMENT.get(name, "")
    if setting.strip():
        return setting
    old = RENAMED.get(name, "")
    if _ENVIRONMENT.get(old, "").strip():
        sys.stderr.write(f"foilworks: {old} is now {name}; the old name works until 0.5\n")
        return _ENVIRONMENT[old]
    return default


def _flag(name: str, default: bool) -> bool:
    return setting_values.flag(name, _env(name), default)


def _integer(name: str, default: int, least: int = 0) -> int:
    return setting_values.whole_number(name, _env(name), default, least)


def _number(name: str, default: float, above: float | None = None) -> float:
    return setting_values.number(name, _env(name), default, above)


def _choice(name: str, *options: str) -> str:
    return setting_values.choice(name, _env(name), options)


def _ensure_folder(folder: Path) -> Path:
    """Create a folder of the home if it is missing, and return it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(f"cannot be made ({error})") from error
    return folder


def _unusable(problem: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"FOILWORKS_HOME {problem}; choose a folder you can write to")


def _stored_secret(home: Path) -> str:
    """Return the key stored in FOILWORKS_HOME, which only its owner can read; generate it once."""
    path = home / "secret_key"
    try:
        # A full disk or a power cut leaves an empty file: no key is lost with it.
        if not path.exists() or not path.read_text(encoding="utf-8").strip():
            _write_secret(path)
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise _unusable(f"cannot store its key ({error})") from error


def _write_secret(path: Path) -> None:
    """Write the key to a temporary file first, so that it exists in full or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".secret_key")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(50))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _chat_endpoints() -> dict[str, dict]:
    """Return name -> address, models, key and price of the CHAT_ENDPOINTS (docs/how-to/instruction-models.md)."""
    endpoints = {}
    for name in _env("CHAT_ENDPOINTS").replace(",", " ").split():
        prefix = f"CHAT_{name.upper()}"
        url = service_urls.split(f"{prefix}_URL", _env(f"{prefix}_URL"))
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,29}", name):
            raise ImproperlyConfigured(f"CHAT_ENDPOINTS: '{name}' is not a name; use at most 30 of a-z, 0-9 and _")
        if url.scheme not in {"http", "https"} or not url.hostname or url.username or url.query or url.fragment:
            raise ImproperlyConfigured(f"{prefix}_URL is not an address; write it as https://host/v1")
        models = _env(f"{prefix}_MODELS").replace(",", " ").split()
        if not models:
            raise ImproperlyConfigured(f"{prefix}_MODELS names no model; list the endpoint's models, the default first")
        endpoints[name] = {"url": url.geturl(), "models": tuple(models), "key": _env(f"{prefix}_KEY"), **_price(prefix)}
        endpoints[name]["in_flight"] = _integer(f"{prefix}_IN_FLIGHT", 64, 1)
    return endpoints


def _price(prefix: str) -> dict:
    """Parse CHAT_…_PRICE="0.15 0.60 USD": the price of a million tokens in and out."""
    words = _env(f"{prefix}_PRICE").split()
    if not words:
        return {}
    try:
        price = (float(words[0]), float(words[1]))
    except (ValueError, IndexError) as error:
        raise ImproperlyConfigured(f"{prefix}_PRICE is not a price; write it as '0.15 0.60 USD'") from error
    return {"price": price, "currency": " ".join(words[2:])}


# One folder contains database, media, caches, models and the embedded Redis; two homes share nothing.
FOILWORKS_HOME = _ensure_folder(Path(_env("FOILWORKS_HOME", str(DEFAULT_HOME))).resolve())
private_files.make_private(FOILWORKS_HOME)
FOILWORKS_DEVICE = setting_values.device("FOILWORKS_DEVICE", _env("FOILWORKS_DEVICE", "auto"))
# OpenMP takes a list, for nested loops; the first number counts.
_OMP_THREADS = setting_values.whole_number("OMP_NUM_THREADS", _env("OMP_NUM_THREADS").partition(",")[0], 0)
# Threads of one worker's models; 0: the processors divided among the workers. More threads than processors are many
# times slower than one.
FOILWORKS_THREADS = _integer("FOILWORKS_THREADS", _OMP_THREADS)
# Clips that one worker decodes in parallel, ahead of its model; 0: the worker's processors, minus the one it runs on.
FOILWORKS_DECODERS = _integer("FOILWORKS_DECODERS", 0)
FOILWORKS_CHROMIUM = _env("FOILWORKS_CHROMIUM")
FOILWORKS_PYTHON = sys.executable

DEBUG = _flag("FOILWORKS_DEBUG", False)
SECRET_KEY = _env("SECRET_KEY") or _stored_secret(FOILWORKS_HOME)
# Earlier keys, newest first: what they signed stays valid.
SECRET_KEY_FALLBACKS = setting_values.listed(_env("SECRET_KEY_FALLBACKS"))
# What has to stay the same derives from it: pseudonyms, orders, draws, names of stored files, the key of releases.
DERIVATION_KEY = _env("DERIVATION_KEY") or [SECRET_KEY, *SECRET_KEY_FALLBACKS][-1]
ALLOWED_HOSTS = setting_values.listed(_env("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1],testserver"))
# Number of the operator's own proxies in front: so many addresses of X-Forwarded-For are trusted.
TRUSTED_PROXIES = _integer("TRUSTED_PROXIES", 0)
CSRF_TRUSTED_ORIGINS = setting_values.listed(_env("CSRF_TRUSTED_ORIGINS"))

INSTALLED_APPS = [
    "foilworks.site",
    "evaluation",
    "annotation",
    "generation",
    "foilworks.core.corpus",
    "foilworks.core.projects",
    "foilworks.core.jobs",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "django_rq",
    "csp",
]

MIDDLEWARE = [
    "foilworks.site.api.versions.UnversionedAddresses",
    "foilworks.site.monitoring.requests.RequestMiddleware",
    "foilworks.site.monitoring.requests.CrossOriginMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "foilworks.site.monitoring.requests.ContentPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "foilworks.site.monitoring.requests.ModelNameMiddleware",
    "foilworks.core.projects.limits.upload_limits.StrangersBodies",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "foilworks.core.projects.sign_in.sessions.SessionTimes",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "foilworks.core.projects.middleware.ActionableErrorMiddleware",
]

ROOT_URLCONF = "foilworks.site.urls"
WSGI_APPLICATION = "foilworks.site.wsgi.application"
AUTH_USER_MODEL = "projects.User"
LOGIN_URL = "projects:sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "projects:sign_in"
# If set, researchers' pages require a second factor.
REQUIRE_TWO_FACTOR = _flag("REQUIRE_TWO_FACTOR", False)
PASSWORD_RESET_TIMEOUT = 2 * 3600
# An identity provider (OpenID Connect), if its address is given. Only OIDC_SIGN_UP creates new accounts.
OIDC_URL = service_urls.provider(_env("OIDC_URL"))
OIDC_NAME = _env("OIDC_NAME", "OpenID Connect") if OIDC_URL else ""
OIDC_SIGN_UP = _flag("OIDC_SIGN_UP", False)
if OIDC_URL:
    INSTALLED_APPS += ["allauth", "allauth.account", "allauth.socialaccount"]
    INSTALLED_APPS += ["allauth.socialaccount.providers.openid_connect"]
    MIDDLEWARE += ["allauth.account.middleware.AccountMiddleware"]
    SOCIALACCOUNT_ADAPTER = "foilworks.core.projects.oidc.Adapter"
    _OIDC_CLIENT = {"client_id": _env("OIDC_CLIENT"), "secret": _env("OIDC_SECRET")}
    _OIDC_APP = {"provider_id": "oidc", "name": OIDC_NAME, **_OIDC_CLIENT, "settings": {"server_url": OIDC_URL}}
    SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [_OIDC_APP]}}
    ACCOUNT_EMAIL_VERIFICATION = "none"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [PACKAGE / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "foilworks.core.projects.context_processors.project_context",
                "foilworks.site.navigation.navigation",
            ],
            "builtins": [
                "django.templatetags.i18n",
                "django.templatetags.static",
                "foilworks.site.templatetags.moment",
                "foilworks.core.projects.templatetags.wording",
            ],
        },
    }
]

DATABASE_URL = _env("DATABASE_URL")
DATABASES = {"default": service_urls.database(DATABASE_URL, FOILWORKS_HOME, _env("DATABASE_PASSWORD"))}

REDIS_URL = service_urls.queue(_env("REDIS_URL"), _env("REDIS_PASSWORD"))
_REDIS = {"URL": REDIS_URL} if REDIS_URL else {"UNIX_SOCKET_PATH": str(redis_socket_path(FOILWORKS_HOME)), "DB": 0}
_QUEUE = {**_REDIS, "DEFAULT_TIMEOUT": 24 * 3600, "SERIALIZER": "rq.serializers.JSONSerializer"}
RQ_QUEUES = {"default": dict(_QUEUE), "gpu": dict(_QUEUE)}
# How long a worker may be silent before another worker takes its job.
JOB_LEASE_SECONDS = _number("FOILWORKS_LEASE_SECONDS", 60, above=0)
# Max queued or running jobs and shards per project on the gpu queue; 0: no limit.
GPU_QUOTA = _integer("FOILWORKS_GPU_QUOTA", 8)
# Max open jobs per project that people started, without shards; 0: no limit.
MAX_OPEN_JOBS_PER_PROJECT = _integer("MAX_OPEN_JOBS_PER_PROJECT", 200)
# Items per shard; 0: from 512 to 2,048 by the size of the run.
SHARD_ITEMS = _integer("FOILWORKS_SHARD_ITEMS", 0)
RQ = {"COMMIT_MODE": "on_db_commit"}
# With an address, Ray runs the gpu queue. Actors reserve (model pattern, CPUs, GPUs): the first match counts.
RAY_ADDRESS = _env("RAY_ADDRESS").strip()
RAY_RESOURCES = setting_values.resources("RAY_RESOURCES", _env("RAY_RESOURCES"))
# Clips that other processors of the cluster decode at once for one actor; 0: it decodes them itself.
RAY_DECODERS = _integer("RAY_DECODERS", 0)

STORAGE_URL = _env("STORAGE_URL")
# How long the signed address of a video in an object store is valid.
MEDIA_URL_SECONDS = _integer("MEDIA_URL_SECONDS", 3600, 1)
_BUCKET = service_urls.bucket(STORAGE_URL) if STORAGE_URL.startswith("s3:") else {}
if _BUCKET:
    # Without keys, boto3 uses what it finds: a role of the machine, ~/.aws.
    _BUCKET |= {
        "access_key": _env("AWS_ACCESS_KEY_ID") or None,
        "secret_key": _env("AWS_SECRET_ACCESS_KEY") or None,
        "querystring_expire": MEDIA_URL_SECONDS,
    }
MEDIA_ROOT = service_urls.folder(STORAGE_URL, FOILWORKS_HOME)
# Hosts from which browsers may play videos that have an address and no file. No page and no worker requests them.
MEDIA_HOSTS = setting_values.media_hosts(_env("MEDIA_HOSTS"))
MEDIA_URL = "/media/"
EXPORT_ROOT = FOILWORKS_HOME / "exports"
MODEL_ROOT = FOILWORKS_HOME / "models"
CACHE_ROOT = FOILWORKS_HOME / "cache"
# Models that jobs download are in the home, too, unless this user already has a cache of Hugging Face.
_USER_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface").expanduser()
if not (_env("HF_HOME") or os.access(_USER_CACHE, os.W_OK)):
    os.environ["HF_HOME"] = str(CACHE_ROOT / "huggingface")
# Caches of decoded frames, clip and text vectors, by content; 0: no cache. The least recently used are evicted.
FRAME_CACHE_BYTES = int(_number("FOILWORKS_FRAME_CACHE_GB", 20) * 1024**3)
VECTOR_CACHE_BYTES = int(_number("FOILWORKS_VECTOR_CACHE_GB", 5) * 1024**3)
TEXT_VECTOR_CACHE_BYTES = int(_number("FOILWORKS_TEXT_VECTOR_CACHE_GB", 50) * 1024**3)
# Cache of videos from an object store that workers of this home decode.
CLIP_CACHE_BYTES = int(_number("FOILWORKS_CLIP_CACHE_GB", 20) * 1024**3)
FRAME_CACHE_FORM = _choice("FOILWORKS_FRAME_CACHE_FORM", "lossless", "jpeg")
# Uploaded files, until they are stored or discarded; never served.
UPLOAD_ROOT = FOILWORKS_HOME / "uploads"
FILE_UPLOAD_TEMP_DIR = _ensure_folder(UPLOAD_ROOT / "arriving")
# The limit applies before a body is read, on the pages that only take files; others take small forms.
FILE_UPLOAD_HANDLERS = [
    "foilworks.core.projects.limits.upload_limits.LimitedUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
UPLOAD_MAX_BYTES = _integer("UPLOAD_MAX_MB", 2048) * 1024 * 1024
# Scores that visitors submit to a public page: size, max waiting for a decision, days stored. Files that they audit.
SUBMISSION_MAX_BYTES = _integer("SUBMISSION_MAX_MB", 20) * 1024 * 1024
SUBMISSION_MAX_OPEN, SUBMISSION_KEEP_DAYS = _integer("SUBMISSION_MAX_OPEN", 100), _integer("SUBMISSION_KEEP_DAYS", 90)
AUDIT_MAX_BYTES, AUDIT_MAX_PAIRS = _integer("AUDIT_MAX_MB", 5) * 1024 * 1024, _integer("AUDIT_MAX_PAIRS", 5000, 1)
DATA_UPLOAD_MAX_NUMBER_FILES = 500
# Limits of one imported video; 0: no limit. A small file can decode to a huge one.
MAX_VIDEO_PIXELS, MAX_VIDEO_FRAMES = _integer("MAX_VIDEO_PIXELS", 16_777_216), _integer("MAX_VIDEO_FRAMES", 60_000)
MAX_VIDEO_SECONDS, MAX_VIDEO_STREAMS = _integer("MAX_VIDEO_SECONDS", 21_600), _integer("MAX_VIDEO_STREAMS", 32)
# Decoded size of one Parquet file.
MAX_TABLE_MB = _integer("MAX_TABLE_MB", 512)
# Limits of the child process that decodes a file: memory and processor seconds.
MAX_DECODE_MEMORY_MB, MAX_DECODE_SECONDS = _integer("MAX_DECODE_MEMORY_MB", 2048), _integer("MAX_DECODE_SECONDS", 1800)
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

API_RATE_LIMIT_PER_MINUTE = _integer("API_RATE_LIMIT_PER_MINUTE", 600)  # Per token; 0: no limit.
# The operator's networks that webhooks may reach, also by http; all other addresses must be public and https.
WEBHOOK_NETWORKS = setting_values.networks("WEBHOOK_NETWORKS", _env("WEBHOOK_NETWORKS"))

# The instruction models that runs may query over HTTP; users choose among these and enter no address.
CHAT_ENDPOINTS = _chat_endpoints()
# Counter-fitted word vectors, for filters without a file of their own.
WORD_VECTORS = str(Path(_env("WORD_VECTORS")).resolve()) if _env("WORD_VECTORS") else ""

# The address of a static file contains a digest of all of them: browsers cache it for good, an update has new
# addresses, and modules import each other by relative names. htmx comes with its package.
STATIC_URL = f"/static/{setting_values.digest(PACKAGE / 'static', version('django-htmx'))}/"
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/static/[0-9a-f]{12}/"
# whitenoise warns at every start if the folder is missing; it stays empty until `collectstatic`.
STATIC_ROOT = _ensure_folder(FOILWORKS_HOME / "static")
STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.AppDirectoriesFinder"]
WHITENOISE_USE_FINDERS = True
STORAGES = {
    "default": {"BACKEND": "foilworks.core.corpus.video_files.object_store.ObjectStore", "OPTIONS": _BUCKET}
    if _BUCKET
    else {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Fits a caption file of a whole benchmark; import larger ones on the command line.
DATA_UPLOAD_MAX_MEMORY_SIZE = 32 * 1024 * 1024

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "foilworks.core.projects.sign_in.password_words.ContextWords"},
]

# Without a mail server there is no password reset by mail; the page says whom to ask.
globals().update(service_urls.mail(_env("EMAIL_URL")))
DEFAULT_FROM_EMAIL, SITE_URL = _env("EMAIL_FROM", "foilworks@localhost"), service_urls.site(_env("SITE_URL"))

SESSION_ENGINE = "foilworks.core.projects.sign_in.sessions"
AUTHENTICATION_BACKENDS = ["foilworks.core.projects.sign_in.sessions.OwnAccounts"]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _flag("SECURE_COOKIES", False)
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# Browsers accept a cookie with this prefix only over TLS and only for this host.
COOKIE_PREFIX = "__Host-" if SESSION_COOKIE_SECURE else ""
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}sessionid", f"{COOKIE_PREFIX}csrftoken"
MESSAGE_STORAGE = "foilworks.core.projects.message_cookies.Messages"
# Days without a visit, and days in total, after which people must sign in again.
SESSION_IDLE_DAYS, SESSION_MAX_DAYS = _integer("SESSION_IDLE_DAYS", 14, 1), _integer("SESSION_MAX_DAYS", 90, 1)
SESSION_COOKIE_AGE = SESSION_MAX_DAYS * 24 * 3600
# Browsers use only TLS for so long; requests without it are redirected, except those of local monitoring.
SECURE_HSTS_SECONDS = _integer("HSTS_SECONDS", 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = _flag("HSTS_SUBDOMAINS", False)
SECURE_SSL_REDIRECT = _flag("SECURE_REDIRECT", False)
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]
# Headers that our proxy sets; without a proxy, a visitor could set them.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
_STORE = [service_urls.store_origin(_BUCKET)] if _BUCKET else []
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:", *_STORE],
        # Large videos are sent there in parts.
        "connect-src": [SELF, *_STORE],
        "media-src": [SELF, *_STORE, *MEDIA_HOSTS],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        # The sign-in form redirects to the identity provider.
        "form-action": [SELF, *([f"{urlsplit(OIDC_URL).scheme}://{urlsplit(OIDC_URL).netloc}"] if OIDC_URL else [])],
    }
}

# Metrics are read with this token, or from these networks; without either, nobody can read them.
METRICS_TOKEN = _env("METRICS_TOKEN")
METRICS_NETWORKS = setting_values.networks("METRICS_NETWORKS", _env("METRICS_NETWORKS"))
# The processes of a host count together, in files; process ids of another host mean other processes.
_HOST = re.sub(r"[^A-Za-z0-9.-]", "_", platform.node()) or "host"
METRICS_FOLDER = _ensure_folder(FOILWORKS_HOME / "run" / "metrics" / _HOST)
# prometheus_client reads it once, when it is imported.
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(METRICS_FOLDER)
SENTRY_DSN = _env("SENTRY_DSN")
_LOG_LEVEL = setting_values.choice(
    "LOG_LEVEL", _env("LOG_LEVEL", "WARNING").upper(), ("WARNING", "INFO", "DEBUG", "ERROR", "CRITICAL")
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "()": "foilworks.site.monitoring.logs.PlainFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
        },
        "json": {"()": "foilworks.site.monitoring.logs.JsonFormatter"},
    },
    "filters": {"routes": {"()": "foilworks.site.monitoring.logs.RouteForAddress"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": _choice("LOG_FORMAT", "plain", "json"),
            "filters": ["routes"],
        }
    },
    "root": {"handlers": ["stderr"], "level": _LOG_LEVEL},
}
