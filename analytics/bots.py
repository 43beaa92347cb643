"""Which browsers are programs: by what they call themselves, a list that is kept here."""

import re
from functools import lru_cache

# Crawlers, previews of links, monitors, libraries and browsers without a window, as they name themselves. Who hides is counted.
_PROGRAMS = re.compile(
    r"bot\b|bot[/;_-]|crawl|spider|slurp|archiver|transcoder|facebookexternalhit|embedly|preview|whatsapp|telegram|skypeuri|"
    r"headless|phantomjs|lighthouse|pagespeed|pingdom|uptime|monitor|statuscake|gtmetrix|validator|scrapy|"
    r"curl/|wget|libwww|python|aiohttp|httpx|okhttp|go-http-client|java/|apache-httpclient|axios|node-fetch|undici|"
    r"postman|insomnia|httpie|feedfetcher|mediapartners|bingpreview|yandex\w*/|baidu|ahrefs|semrush|gptbot|claude|perplexity",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def is_bot(user_agent: str) -> bool:
    """Return whether a browser's name is a program's; a browser without a name is one."""
    return not user_agent.strip() or bool(_PROGRAMS.search(user_agent))
