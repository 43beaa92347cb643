"""Settings of the shop. Everything that differs between two machines comes from the environment or an ignored `.env`."""

import tomllib
from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured

from cassandra_db.configuration import database_settings
from storefront.media import backup_storage, media_storage

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
environ.Env.read_env(str(BASE_DIR / ".env"))
# The version of the shop, as CHANGELOG.md has it.
VERSION: str = tomllib.loads((BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "version"
]

DEBUG = env.bool("DEBUG", default=False)
if "STOA_SHOWROOM" in env.ENVIRON:
    raise ImproperlyConfigured(
        "STOA_SHOWROOM is called STOA_DEMO now: change its name in the environment or in .env."
    )
# A demo shows its logins and lets its visitors read the mail; a shop does neither.
DEMO = env.bool("STOA_DEMO", default=False)
# The module of the demo logins; a shop has none (accounts.demo_logins).
DEMO_LOGINS = "demo.logins.LOGINS" if DEMO else ""
HTTPS = env.bool("STOA_HTTPS", default=not (DEBUG or DEMO))

# Without a key, gunicorn does not start and Django raises at its first use; commands that need none (`cassandra`, `doctor`) run.
SECRET_KEY = env.str("SECRET_KEY", default="only-for-debug-" + "0" * 50 if DEBUG else "")
# Former keys: data that was signed or encrypted with them stays valid.
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
# Mailed links are built from this, never from a request's Host header.
PUBLIC_URL = env.str("PUBLIC_URL", default="http://127.0.0.1:8000").rstrip("/")

# Apps beside the shop, which never imports them: local tools, and a demo's apps. These apps may have a urls.py.
EXTRA_APPS = env.list("EXTRA_APPS", default=["devtools"])
if DEBUG or DEMO:
    EXTRA_APPS += ["benchmarks", "demo", "demo.testbank"]
# Folders whose templates come before those of EXTRA_APPS, and these before the shop's own (docs/extending.md).
TEMPLATE_FOLDERS = [Path(each) for each in env.list("TEMPLATE_FOLDERS", default=[])]
# Parts of the shop that it can do without. Nothing below imports them: it finds what it needs of them by names (decision 091).
OPTIONAL_APPS = ["posts"] if env.bool("POSTS", default=True) else []
INSTALLED_APPS = [
    # Before the engine, whose sync_cassandra and migrate theirs replace.
    "cassandra_db",
    "jobs",
    "django_cassandra_engine",
    "shop_settings",
    "web",
    "text_pages",
    "pricing",
    "catalogue",
    "analytics",
    "books",
    "sensors",
    "inventory",
    "spreadsheets",
    "mail",
    "promotions",
    "notifications",
    "stock_alerts",
    "cart",
    "accounts",
    "price_alerts",
    "payments",
    "past_orders",
    "orders",
    "reviews",
    "moderation",
    "questions",
    "conversations",
    "checkout",
    "drafts",
    "product_reports",
    "storefront",
    "adminpanel",
    "consistency",
    "backups",
    *OPTIONAL_APPS,
    # For AnonymousUser, login() and logout(). The models of these apps have no tables, and the shop does not use them.
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.forms",  # the widgets' templates, for the form renderer
    "django_htmx",
    "template_partials",
    "csp",
    *EXTRA_APPS,
]

MIDDLEWARE = [
    "web.middleware.RequestIdMiddleware",
    "web.middleware.ResponseHeadersMiddleware",
    "web.proxies.ForwardedHeadersMiddleware",
    # Around all other middlewares: static files and the redirect to HTTPS get the policy, too.
    "web.middleware.ContentSecurityPolicyMiddleware",
    "django.middleware.security.SecurityMiddleware",
    # Before any form is parsed.
    "web.middleware.FieldCountMiddleware",
    # Before all expensive work. The request is not checked yet, and is only returned to its sender, to be sent again.
    "web.middleware.CheckoutQueueMiddleware",
    # Before all middlewares that compress.
    "web.compression.AcceptedEncodingsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "web.compression.CompressionMiddleware",
    "web.middleware.StatementCountMiddleware",
    "accounts.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    # Directly inside the CSRF middleware: it sees each answer before the token's cookie is set.
    "web.middleware.FailedAnswerMiddleware",
    # After each visitor gets a token, and before the visitor's own data are loaded: visitors without own data skip the loading.
    "storefront.whole_pages.WholePageMiddleware",
    "accounts.middleware.UserMiddleware",
    "cart.middleware.OwnerMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "web.middleware.RedirectMiddleware",
    "web.middleware.CassandraUnavailableMiddleware",
    "web.middleware.RateLimitMiddleware",
]

ROOT_URLCONF = "storefront.urls"
WSGI_APPLICATION = "storefront.wsgi.application"
APPEND_SLASH = True
# The shop is at the root of its host. Pages are cached with their links, so no request may add a prefix to them (S100).
FORCE_SCRIPT_NAME = ""

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "builtins": [
                "django.templatetags.i18n",  # each text is marked for translation
                "web.templatetags.times",
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "web.form_tokens.form_token",
                "django.contrib.messages.context_processors.messages",
                "accounts.context.user",
                "accounts.context.bell",
                "cart.context.cart_badge",
                "storefront.context.shop_context",
                "storefront.context.visitor_context",
                "adminpanel.context.staff_frame",
            ],
            "loaders": [
                (
                    "template_partials.loader.Loader",
                    [
                        (
                            "django.template.loaders.cached.Loader",
                            [
                                "web.extensions.Loader",
                                "web.templates.Loader",
                                "django.template.loaders.app_directories.Loader",
                            ],
                        )
                    ],
                )
            ],
        },
    }
]
FORM_RENDERER = "web.forms.Renderer"

DATABASES = {"default": database_settings(env)}
# Tables come from the models, by `manage.py migrate`: Django's own apps have none here, and nothing to migrate.
MIGRATION_MODULES = {"auth": None, "contenttypes": None}
# The engine's read-only key: cqlengine models need no autoincrement field.
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# The bearer token for /metrics; without a token that page does not exist.
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
# While this file exists, /healthz says that the server is about to be stopped (deploy/systemd/stoa-web@.service).
DRAIN_FILE = env.str("DRAIN_FILE", default="")
SLOW_STATEMENT_SECONDS = env.float("SLOW_STATEMENT_SECONDS", default=0.25)
# Adds a header with the number of statements and rounds of reads to each page.
COUNT_STATEMENTS = env.bool("COUNT_STATEMENTS", default=DEBUG)

# How long a worker holds a job's lease between renewals. A killed worker is replaced within two of these (jobs.leases).
LEASE_SECONDS = env.float("LEASE_SECONDS", default=30)

# How many bytes of drawn parts and whole pages a process caches (decisions 044, 045). With DEBUG a changed template shows at once.
FRAGMENT_CACHE_BYTES = 0 if DEBUG else 48 * 1024 * 1024
WHOLE_PAGE_CACHE_BYTES = 0 if DEBUG else 16 * 1024 * 1024
# For how long a whole page is reused, with its prices and stock; 0 draws each page anew.
WHOLE_PAGE_SECONDS = min(env.float("WHOLE_PAGE_SECONDS", default=5), 5)

CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["accounts.backends.EmailBackend"]
# Only for a test run: web.checks refuses it anywhere else (S54).
CHEAP_PASSWORD_HASHES = env.bool("CHEAP_PASSWORD_HASHES", default=False)
# Only for tests: hosts with ports, "127.0.0.1:8403", from which files are fetched without https (web.fetching; S118).
FETCH_TEST_HOSTS = env.list("FETCH_TEST_HOSTS", default=[])
PASSWORD_HASHERS = [
    "accounts.hashers.CheapArgon2PasswordHasher"
    if CHEAP_PASSWORD_HASHES
    else "django.contrib.auth.hashers.Argon2PasswordHasher"
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 8},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "accounts.validators.MaxBytesValidator"},
    {"NAME": "accounts.validators.EmailOrShopNameValidator"},
]
LOGIN_URL = "accounts:login"
LOGIN_REDIRECT_URL = "accounts:profile"
SECOND_FACTOR_URL = "adminpanel:second_factor"
LOGOUT_REDIRECT_URL = "home"

_host_prefix = "__Host-" if HTTPS else ""
SESSION_ENGINE = "accounts.sessions"
SESSION_COOKIE_NAME = f"{_host_prefix}stoa_session"
SESSION_COOKIE_AGE = 14 * 24 * 3600
# Counted from login on, or from the second factor on; activity does not extend it (decision 008).
MAX_SESSION_SECONDS = 90 * 24 * 3600
MAX_STAFF_SESSION_SECONDS = 12 * 3600
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = f"{_host_prefix}stoa_csrf"
# users_by_email keeps addresses unique: a claim by IF NOT EXISTS, which this check cannot see.
SILENCED_SYSTEM_CHECKS = ["auth.W004"]
CSRF_FAILURE_VIEW = "storefront.views.errors.csrf_failure"
CART_COOKIE_NAME = f"{_host_prefix}stoa_cart"
DEVICE_COOKIE_NAME = f"{_host_prefix}stoa_device"
ORDER_COOKIE_NAME = f"{_host_prefix}stoa_orders"
CHECKOUT_COOKIE_NAME = f"{_host_prefix}stoa_checkout"
COUNTRY_COOKIE_NAME = f"{_host_prefix}stoa_country"
QUEUE_COOKIE_NAME = f"{_host_prefix}stoa_turn"
VIEWED_COOKIE_NAME = f"{_host_prefix}stoa_viewed"
MESSAGES_COOKIE_NAME = f"{_host_prefix}stoa_messages"
MESSAGE_STORAGE = "web.messages.MessageStorage"

SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 2 * 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
# Only with a proxy in front that sets X-Forwarded-Proto and appends to X-Forwarded-For.
BEHIND_PROXY = env.bool("BEHIND_PROXY", default=False)
# The addresses and networks of that proxy; gunicorn.conf.py reads the same variable.
FORWARDED_ALLOW_IPS = env.list("FORWARDED_ALLOW_IPS", default=["127.0.0.1"])
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# The shop's pages use none of these features, so injected code cannot, either.
PERMISSIONS_POLICY = ", ".join(
    f"{feature}=()"
    for feature in [
        "accelerometer",
        "camera",
        "display-capture",
        "geolocation",
        "gyroscope",
        "hid",
        "idle-detection",
        "magnetometer",
        "microphone",
        "midi",
        "payment",
        "screen-wake-lock",
        "serial",
        "usb",
        "xr-spatial-tracking",
    ]
)
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
# The payment gateways by name, and the one in use, or `none`. A shop has to name it; the test bank is for demos.
PAYMENT_GATEWAYS = {"stripe": "payments.gateways.stripe"}
if "demo.testbank" in EXTRA_APPS:
    PAYMENT_GATEWAYS["testbank"] = "demo.testbank.gateway"
PAYMENT_GATEWAY = env.str("PAYMENT_GATEWAY", default="testbank" if DEBUG or DEMO else "")
# The payment methods of the checkout (payments.gateways.METHODS).
PAYMENT_METHODS = env.list(
    "PAYMENT_METHODS", default=["card", "transfer", "cod"] if DEBUG or DEMO else ["card"]
)
# The account for transfers; "|" separates its lines.
BANK_ACCOUNT = env.str(
    "BANK_ACCOUNT",
    default="Example Ltd|IBAN IE64 IRCE 9205 0112 3456 78|BIC IRCEIE2D" if DEBUG or DEMO else "",
)
STRIPE_SECRET_KEY = env.str("STRIPE_SECRET_KEY", default="")
STRIPE_WEBHOOK_SECRET = env.str("STRIPE_WEBHOOK_SECRET", default="")
STRIPE_API = env.str("STRIPE_API", default="https://api.stripe.com")
# Stripe's payment pages, to which the checkout may redirect.
STRIPE_PAGES = env.str("STRIPE_PAGES", default="https://checkout.stripe.com")

# Uploaded pictures, and under incoming/ files for the worker. Web hosts and workers need the same storage.
MEDIA_ROOT = Path(env.str("MEDIA_ROOT", default=str(BASE_DIR / ".run" / "media")))
MEDIA_URL = "/media/"
S3_BUCKET = env.str("S3_BUCKET", default="")
MEDIA_STORAGE, MEDIA_HOST = media_storage(env, MEDIA_ROOT, MEDIA_URL)

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", *([MEDIA_HOST] if MEDIA_HOST else [])],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        # A form may redirect to the payment page.
        "form-action": ["'self'", *([STRIPE_PAGES] if PAYMENT_GATEWAY == "stripe" else [])],
        "manifest-src": ["'self'"],
        "base-uri": ["'none'"],
        "object-src": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

# The attempts allowed to an account, a network address and the whole shop, and the seconds of the period; 0 counts none. The environment can
# set each: LIMIT_LOGIN=10,100,3000,900. Above the shop's number all answers come later (web.rate_limits), but nobody is refused.
RATE_LIMITS = {
    kind: tuple(env.list(f"LIMIT_{kind.upper()}", cast=int, default=list(numbers)))
    for kind, numbers in {
        "login": (10, 100, 3000, 900),  # counts only wrong passwords
        "password": (10, 0, 0, 900),  # when a signed-in user is asked for the password again
        "code": (6, 60, 0, 600),  # second factors
        "reset": (5, 30, 600, 3600),
        "registration": (5, 30, 600, 3600),
        "lookup": (10, 50, 1500, 900),
        # Above the limit no mail is sent, but nobody is refused: strangers must not be able to block it (decision 028).
        "withdrawal": (5, 30, 0, 24 * 3600),
        "voucher": (10, 50, 1500, 900),
        "invitation": (30, 60, 1000, 3600),
        "waiting": (20, 60, 2000, 3600),
        "suggestions": (0, 300, 0, 60),
        # Orders that ask a bank. Counted by network alone, in the process's memory, so no sale waits.
        "order": (0, 60, 0, 600),
        # Orders by transfer or on delivery with an unconfirmed address: each mails somebody.
        "unpaid_order": (3, 12, 0, 3600),
        "confirmation": (3, 12, 0, 3600),  # that mail, sent again
        # Above the limit a review waits for staff, but nobody is refused: a similar text, or many from one network.
        "review_text": (1, 0, 0, 90 * 24 * 3600),
        # A single person must not exhaust a network's limit.
        "review": (5, 10, 0, 3600),
        "question": (20, 60, 0, 3600),
        "report": (10, 30, 0, 3600),  # of reviews, questions and answers
        "vote": (10, 30, 0, 3600),
        "edit": (10, 30, 0, 3600),  # of an existing review
        "review_pictures": (10, 30, 0, 3600),  # forms with pictures
        "post": (10, 30, 0, 3600),  # new ones
        "comment": (60, 200, 0, 3600),
        # Above the limit a comment waits for staff, as a review does.
        "unread_comment": (20, 60, 0, 3600),
        "like": (200, 600, 0, 3600),
        "follow": (100, 300, 0, 3600),  # and blocks
        "profile": (20, 60, 0, 3600),
        "search": (0, 120, 0, 60),
        "message": (20, 60, 2000, 3600),  # to the shop, of a member or a guest
        "contact": (5, 20, 600, 3600),  # mails that confirm a guest's first message
    }.items()
}
# For how long such an order is reserved before its e-mail address is confirmed (decision 023).
EMAIL_CONFIRMATION_MINUTES = env.int("EMAIL_CONFIRMATION_MINUTES", default=30)
# How many unpaid units a mailbox and a network may have on order; 0 is no limit.
UNPAID_UNITS = env.list("UNPAID_UNITS", cast=int, default=[20, 60])
# For how long slowed requests wait in a thread, and how many may do so at once in a process (web.rate_limits).
RATE_LIMIT_DELAY_SECONDS = env.float("LIMIT_DELAY_SECONDS", default=3)
RATE_LIMIT_DELAYS_AT_ONCE = max(1, env.int("WEB_THREADS", default=16) // 4)

# How many requests of the checkout a process handles at once, and how many wait in its threads (web.checkout_queue). One keeps a CPU
# busy: more would not be faster, and would delay all other pages.
CHECKOUT_QUEUE_URLS = ["checkout:details", "checkout:delivery", "checkout:review"]
# Checks the form field `checkout`: visitors who send a valid one are already in the checkout.
CHECKOUT_VISIT_PROOF = "checkout.snapshot.is_snapshot_token"
CHECKOUTS_AT_ONCE = env.int("CHECKOUTS_AT_ONCE", default=1)
CHECKOUTS_NEXT = env.int("CHECKOUTS_NEXT", default=env.int("WEB_THREADS", default=16) // 4)

# Only signed addresses may send more than 256 KiB (storefront.gunicorn_worker). A product's page sends this much: 400 rows of
# variants, 200 of them new, with up to ten warehouses each.
DATA_UPLOAD_MAX_MEMORY_SIZE = 512 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000
# The limit for all other addresses (web.middleware).
MAX_FORM_FIELDS = 200
FILE_UPLOAD_HANDLERS = ["web.uploads.MarkedViewsHandler"]

LANGUAGE_CODE = "en-ie"
# The hour, in the shop's time zone, at which members get the daily mail of what they were told.
DIGEST_HOUR = env.int("DIGEST_HOUR", default=8)
TIME_ZONE = env.str("SHOP_TIME_ZONE", default="Europe/Dublin")
USE_TZ = True
USE_I18N = True
CURRENCY = "EUR"
# The shop's name and what stands beside it, until staff save a brand.
SHOP_NAME = env.str("SHOP_NAME", default="Stoa")
SHOP_TAGLINE = env.str("SHOP_TAGLINE", default="Things for everyday life")
# The seller, as invoices name it; "|" separates the lines of the address.
SELLER = {
    "name": env.str("SELLER_NAME", default=SHOP_NAME),
    "address": env.str("SELLER_ADDRESS", default="1 Example Street|Dublin|Ireland").split("|"),
    "vat_id": env.str("SELLER_VAT_ID", default="IE0000000XX"),
    "email": env.str("SELLER_EMAIL", default="help@shop.example"),
}
# For how many days after its arrival an item can be returned.
RETURN_DAYS = env.int("RETURN_DAYS", default=30)
# Staff who refund more than this of an order, in the shop's currency, have to enter their second factor again.
REFUND_CODE_ABOVE = env.int("REFUND_CODE_ABOVE", default=200)
# For how long a mailed link opens a guest's order, and a browser remembers it: until even items with a long delivery can no longer be
# returned.
ORDER_LINK_DAYS = env.int("ORDER_LINK_DAYS", default=RETURN_DAYS + 60)
ORDER_LINK_SECONDS = ORDER_LINK_DAYS * 24 * 3600
# For how many days after the last arrival a consumer may withdraw from the contract: 14, or what the country's law says.
WITHDRAWAL_DAYS = env.int("WITHDRAWAL_DAYS", default=14)
# Conversations that have been done for this many months are deleted.
CONVERSATION_MONTHS = env.int("CONVERSATION_MONTHS", default=24)
# The partitions of a stock item's ledger: with 16, a million sales are some ten megabytes in each. May be changed at any time;
# inventory.queries reads at most 16.
STOCK_LEDGER_SHARDS = min(max(env.int("STOCK_LEDGER_SHARDS", default=16), 1), 16)
# Countries to which prices are net: tax is added in the cart. Everywhere else prices include it.
TAX_ADDED_IN = env.list("TAX_ADDED_IN", default=[])
STATIC_URL = "/static/"
STATIC_ROOT = Path(env.str("STATIC_ROOT", default=str(BASE_DIR / ".run" / "static")))
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": MEDIA_STORAGE,
    **backup_storage(env),
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
# The derived search index; every web host builds its own from Cassandra.
SEARCH_INDEX_DIR = Path(env.str("SEARCH_INDEX_DIR", default=str(BASE_DIR / ".run" / "search")))

# Backups are encrypted with this key. Whoever has lost it has no backups.
BACKUP_KEY = env.str("BACKUP_KEY", default="")
# How many backups of a keyspace are kept.
BACKUP_KEEP = env.int("BACKUP_KEEP", default=14)
# Where the nodes of this machine listen for JMX. The local ones are meant only if no others are named.
_local_jmx = env.list("CASSANDRA_LOCAL_JMX", default=["127.0.0.1:7199"])
CASSANDRA_JMX = env.list(
    "CASSANDRA_JMX", default=["127.0.0.1:7199"] if "CASSANDRA_HOSTS" in env.ENVIRON else _local_jmx
)

vars().update(env.email_url("EMAIL_URL", default="smtp://127.0.0.1:8025"))
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.str("SHOP_EMAIL", default="shop@shop.example")
# The address to which undeliverable mails return, with a signed mark: bounce@shop.example receives bounce+…@shop.example. Empty: off.
MAIL_BOUNCE_ADDRESS = env.str("MAIL_BOUNCE_ADDRESS", default="")
# The address to which customers answer the shop's messages, with a signed mark: help@shop.example receives help+…@shop.example.
# Empty: customers answer on the page.
MAIL_REPLY_ADDRESS = env.str("MAIL_REPLY_ADDRESS", default="reply@shop.example" if DEMO else "")
EMAIL_TIMEOUT = 10
# The folder of the demo's mail catcher.
MAILDIR = Path(env.str("MAILDIR", default=str(BASE_DIR / ".run" / "mail")))

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "request": {"()": "web.logs.RequestIdFilter"},
        "paths": {"()": "web.logs.PathRedactionFilter"},
    },
    "formatters": {
        "line": {
            "()": "web.logs.OneLineFormatter",
            "format": "%(asctime)s %(levelname)s %(request_id)s %(name)s %(message)s",
        }
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["request", "paths"],
        }
    },
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="INFO")},
    "loggers": {
        "cassandra": {"level": "ERROR"},
        "django.request": {"level": "ERROR"},
        # They would log letters of customers' names that a typeface lacks (S48).
        "fpdf": {"level": "ERROR"},
        "fontTools": {"level": "ERROR"},
    },
}
