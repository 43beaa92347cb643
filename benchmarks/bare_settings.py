"""Settings of the yardstick: the shop's, with nothing around the view but what Django puts around every view."""

from storefront.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.bare"
# It draws every template in full, whatever the shop keeps: so the yardstick stays as long as it is.
FRAGMENT_CACHE_BYTES = WHOLE_PAGE_CACHE_BYTES = 0
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
