"""Removes the quoted text from a mail's text.

The library's patterns take minutes for some texts, so it runs in a process of its own with a bound on its processor time. If it
does not finish, the text stays whole.

    python -I conversations/quotes.py < <the text> > <the text without quotes>
"""

import re
import resource
import subprocess
import sys

LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pl", "sv")
MAX_CPU_SECONDS = 2
# On a busy machine the processor time takes more seconds.
_MAX_SECONDS = 20


def remove_quotes(text: str) -> str:
    """Return what the sender of a mail has typed: the text without the mails that it quotes, above, below or in between."""
    try:
        done = subprocess.run(  # noqa: S603 -- our own program, and no shell
            [sys.executable, "-I", __file__],
            input=text.encode(),
            env={},
            capture_output=True,
            timeout=_MAX_SECONDS,
            check=True,
            start_new_session=True,
        )
    except subprocess.SubprocessError:
        return text
    return done.stdout.decode()


def find_typed_text(text: str) -> str:
    """Return the text without quotes, in unbounded time."""
    from mailparser_reply import EmailReplyParser

    kept: list[str] = []
    for reply in EmailReplyParser(languages=list(LANGUAGES)).read(text).replies:
        lines = reply.content.removeprefix(reply.headers or "").split("\n")
        if reply.headers and not any(line.startswith(">") for line in lines):
            break  # a quote without marks: all that is below belongs to it
        # Of a marked quote the other lines are answers.
        kept += [line for line in lines if not line.startswith(">")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS + 1))
    typed = find_typed_text(sys.stdin.buffer.read().decode())
    sys.stdout.buffer.write(typed.encode())
