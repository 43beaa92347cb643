"""Recognises programs, such as crawlers, by the user agent that they send."""

import re
from functools import lru_cache

# Names that programs put into their user agents. Programs that pose as browsers are counted as visitors.
_PROGRAMS = re.compile(
    r"bot\b|bot[/;_-]|crawl|spider|slurp|archiver|transcoder|facebookexternalhit|embedly|preview|whatsapp|telegram|skypeuri|"
    r"headless|phantomjs|lighthouse|pagespeed|pingdom|uptime|monitor|statuscake|gtmetrix|validator|scrapy|"
    r"curl/|wget|libwww|python|aiohttp|httpx|okhttp|go-http-client|java/|apache-httpclient|axios|node-fetch|undici|"
    r"postman|insomnia|httpie|feedfetcher|mediapartners|bingpreview|yandex\w*/|baidu|ahrefs|semrush|gptbot|claude|perplexity",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def is_bot(user_agent: str) -> bool:
    """Return whether a user agent belongs to a program. An empty user agent counts as a program's."""
    return not user_agent.strip() or bool(_PROGRAMS.search(user_agent))
