"""The setting that takes posts out of the shop."""

import json
import os
import subprocess
import sys


def test_x458_a_shop_without_posts_has_nothing_of_them() -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "tests.posts.shop_without_posts"],
        env=os.environ | {"POSTS": "false"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout.splitlines()[-1])
    assert len(found) == 8
    assert {name: value for name, value in found.items() if value} == {}
