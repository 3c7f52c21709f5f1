"""Django settings of the suite."""

from pathlib import Path

from machina import MACHINA_MAIN_STATIC_DIR, MACHINA_MAIN_TEMPLATE_DIR
from oscar import INSTALLED_APPS as OSCAR_APPS
from oscar.defaults import *  # noqa: F403  (oscar reads its options from here)

from suite import config
from suite.forum_settings import *  # noqa: F403
from suite.shop_settings import *  # noqa: F403

_config = config.load()
_HERE = Path(__file__).parent


class AllFromModels:
    """No migrations: a new database gets its tables from the models, in a tenth of the time."""

    def __contains__(self, app_label: str) -> bool:
        return True

    def __getitem__(self, app_label: str) -> None:
        return None


SECRET_KEY = "local-suite"  # signs cookies of throw-away sessions only
DEBUG = False
ALLOWED_HOSTS = list(_config.hosts.values())
SITE_ID = 1
ROOT_URLCONF = "suite.urls.shop"
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
SILENCED_SYSTEM_CHECKS = ["fields.W342", "fields.W903", "models.W042"]

USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = True
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]  # more would put a language picker on every page of the shop

INSTALLED_APPS = [
    "suite.apps.SuiteConfig",
    *OSCAR_APPS,
    "django.contrib.humanize",
    "mptt",
    "machina",
    "machina.apps.forum",
    "machina.apps.forum_conversation",
    "machina.apps.forum_conversation.forum_attachments",
    "machina.apps.forum_conversation.forum_polls",
    "machina.apps.forum_feeds",
    "machina.apps.forum_moderation",
    "machina.apps.forum_search",
    "machina.apps.forum_tracking",
    "machina.apps.forum_member",
    "machina.apps.forum_permission",
    "django_nyt.apps.DjangoNytConfig",
    "sekizai",
    "sorl.thumbnail",
    "wiki.apps.WikiConfig",
    "wiki.plugins.attachments.apps.AttachmentsConfig",
    "wiki.plugins.notifications.apps.NotificationsConfig",
    "wiki.plugins.images.apps.ImagesConfig",
    "wiki.plugins.macros.apps.MacrosConfig",
    "wiki.plugins.links.apps.LinksConfig",
    "wiki.plugins.globalhistory.apps.GlobalHistoryConfig",
]

MIDDLEWARE = [
    "suite.middleware.SiteMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "suite.middleware.ShopBasketMiddleware",
    "suite.middleware.ForumOnlyPermissionMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [str(_HERE / "templates"), MACHINA_MAIN_TEMPLATE_DIR],
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            "context_processors": [
                "django.contrib.auth.context_processors.auth",
                "django.template.context_processors.request",
                "django.template.context_processors.debug",
                "django.template.context_processors.i18n",
                "django.template.context_processors.media",
                "django.template.context_processors.static",
                "django.template.context_processors.tz",
                "django.contrib.messages.context_processors.messages",
                "sekizai.context_processors.sekizai",
                "suite.context_processors.shop",
                "suite.context_processors.forum",
            ],
        },
    }
]

DATABASES = {
    "default": {
        "ENGINE": "suite.db",
        "NAME": str(_config.seed_dir / "db.sqlite3"),
        "CONN_MAX_AGE": 0,  # a kept connection would belong to the thread's previous session
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA temp_store=MEMORY;",
        },
    }
}

MIGRATION_MODULES = AllFromModels()

CACHES = {
    # Applications cache by primary key, which every session shares: no cache can leak nothing.
    "default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"},
    "machina_attachments": {"BACKEND": "suite.attachment_cache.SessionFileCache", "LOCATION": "attachments"},
}

HAYSTACK_CONNECTIONS = {"default": {"ENGINE": "suite.search.SearchEngine"}}

AUTHENTICATION_BACKENDS = [
    "oscar.apps.customer.auth_backends.EmailBackend",
    "django.contrib.auth.backends.ModelBackend",
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # cheap: the passwords are published
SESSION_EXPIRE_AT_BROWSER_CLOSE = True
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"

STATIC_URL = "/static/"
STATIC_ROOT = str(_config.seed_dir / "static")
STATICFILES_DIRS = [MACHINA_MAIN_STATIC_DIR]
MEDIA_URL = "/media/"
STORAGES = {
    "default": {"BACKEND": "suite.storage.OverlayStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"

WIKI_ACCOUNT_HANDLING = True
WIKI_ACCOUNT_SIGNUP_ALLOWED = True
WIKI_ATTACHMENTS_PATH_OBSCURIFY = False
WIKI_IMAGES_PATH_OBSCURIFY = False

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"stderr": {"class": "logging.StreamHandler"}},
    "loggers": {
        "django.request": {"handlers": ["stderr"], "level": "ERROR"},
        "haystack": {"level": "CRITICAL"},
        "waitress.queue": {"level": "ERROR"},  # it warns of every request that waits for a thread
    },
}
