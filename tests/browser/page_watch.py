"""What is watched on every page: its console, its answers, its accessibility."""

import re
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import ConsoleMessage, Page, Response

# No faults: an answer that htmx swaps (Chromium writes each status from 400 on to the console), and a request that a
# newer one has replaced.
EXPECTED_MESSAGES = (
    r"Failed to load resource: the server responded with a status of (409|422|429)|htmx:(sendAbort|afterRequest)"
    # A sandboxed frame, such as a mail's, refuses the script that watches the page.
    r"|Blocked script execution in '[^']*' because the document's frame is sandboxed"
)
AXE = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "rules": {"target-size": {"enabled": True}},
    "resultTypes": ["violations"],
}
# Contrast is most of axe's work, and the same few looks stand on every page: what has passed passes again where it and all
# around it have the same style. What lies above other things has a background that is not around it, and is measured each time.
RUN_AXE = """async ([options, known]) => {
  const check = axe._audit.checks['color-contrast'], passed = new Set(known), looks = new Map([[null, '']]);
  const styles = ['color', 'backgroundColor', 'backgroundImage', 'opacity', 'filter', 'mixBlendMode', 'fontSize', 'fontWeight', 'textShadow'];
  const look = (element) => {
    if (looks.has(element)) return looks.get(element);
    const style = getComputedStyle(element), around = look(element.parentElement);
    const own = styles.map((name) => style[name]).join();
    const isAbove = around === null || ['absolute', 'fixed'].includes(style.position) || style.transform !== 'none';
    // Most elements look as what they stand in, and add nothing to it.
    const isPlain = style.backgroundColor === 'rgba(0, 0, 0, 0)' && style.opacity === '1' && around?.endsWith(`>${own}`);
    looks.set(element, isAbove ? null : isPlain ? around : `${around}>${own}`);
    return looks.get(element);
  };
  axe.measureContrast ??= check.evaluate;
  check.evaluate = function (element, ...more) {
    const its = look(element);
    if (passed.has(its)) return true;
    const found = axe.measureContrast.call(this, element, ...more);
    if (found === true && its) passed.add(its);
    return found;
  };
  const {violations} = await axe.run(options);
  known.forEach((each) => passed.delete(each));
  return [violations, [...passed]];
}"""
_passed_looks: set[str] = set()


class PageWatch:
    """Notes what should not happen on a page. `allow` matches what a test brings about on purpose."""

    def __init__(self, page: Page, allow: str = "") -> None:
        self.is_ended = False
        self.restart(allow)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self._note(f"error in a script: {error}"))
        page.on("response", self._answer)

    def restart(self, allow: str) -> None:
        """Begin anew, with what is allowed from now on."""
        self.problems: list[str] = []
        self._allowed = re.compile(f"{EXPECTED_MESSAGES}|{allow}" if allow else EXPECTED_MESSAGES)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error" or "Content Security Policy" in message.text:
            self._note(f"console: {message.text} ({message.location.get('url')})")

    def _answer(self, response: Response) -> None:
        if response.status >= 500:
            self._note(f"{response.request.method} {response.url} answered {response.status}")

    def _note(self, fault: str) -> None:
        if not self.is_ended and not self._allowed.search(fault):
            self.problems.append(fault)

    def assert_clean(self) -> None:
        """Fail if something went wrong on the page."""
        assert not self.problems, "\n".join(self.problems)


def list_accessibility_violations(page: Page) -> list[str]:
    """Return in axe's own words which of its rules the page as it stands breaks, and where."""
    # A busy machine draws the page once before its stylesheet is there; colours then change within a moment.
    page.evaluate(
        """() => Promise.allSettled(document.getAnimations()
            .filter((each) => each instanceof CSSTransition).map((each) => each.finished))
            .then(() => null)"""
    )
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    broken: list[dict[str, Any]]
    broken, looks = page.evaluate(RUN_AXE, [AXE, sorted(_passed_looks)])
    _passed_looks.update(looks)
    return [
        f"{rule['id']} ({rule['impact']}): {rule['help']}\n    {node['html'][:200]}\n    {node['failureSummary']}"
        for rule in broken
        for node in rule["nodes"]
    ]


def assert_accessible(page: Page, what: str = "") -> None:
    """Fail if the page as it stands breaks one of axe's rules."""
    violations = list_accessibility_violations(page)
    assert not violations, f"{what or page.url}\n" + "\n".join(violations)
