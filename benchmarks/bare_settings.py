"""Settings of the yardstick: the shop's, with nothing around the view but what Django puts around every view."""

from storefront.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.bare"
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
