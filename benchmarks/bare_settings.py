"""The settings of the yardstick (benchmarks.bare): those of the shop, but only with Django's usual middleware."""

from storefront.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.bare"
# The yardstick renders every template in full.
FRAGMENT_CACHE_BYTES = WHOLE_PAGE_CACHE_BYTES = 0
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
