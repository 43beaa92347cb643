"""The budgets of the code: how long a function and a file may be, and how many parameters a function may have."""

import ast
import subprocess
from collections.abc import Iterator

from tests.architecture.apps import ROOT

MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 8
MAX_FILE_LINES = 500
MAX_TEST_FILE_LINES = 800
# What may be over its budget, and why, ten at most: "file lines", "file function lines" or "file function parameters".
EXCEPTIONS: dict[str, str] = {
    "orders/models.py lines": "an app's tables stand in one module, one after the other, without logic"
}
# Builders of the picture studio: their parameters say what a thing is like, and most have a default.
STUDIO = "demo/studio/"


def _list_files() -> list[str]:
    """Return the Python files of all packages, the tests' among them."""
    files = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    return [file for file in files if (ROOT / file.split("/")[0] / "__init__.py").exists()]


def _list_functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield each function below a node with its dotted name."""
    for child in ast.iter_child_nodes(node):
        name = prefix
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = f"{prefix}.{child.name}" if prefix else child.name
        if isinstance(child, ast.FunctionDef):
            yield name, child
        yield from _list_functions(child, name)


def _list_excesses(file: str) -> Iterator[tuple[str, int]]:
    """Yield what is over its budget in a file, named as in EXCEPTIONS, and its size."""
    text, is_test = (ROOT / file).read_text(), file.startswith("tests/")
    lines = text.count("\n")
    if lines > (MAX_TEST_FILE_LINES if is_test else MAX_FILE_LINES):
        yield f"{file} lines", lines
    for name, function in () if is_test else _list_functions(ast.parse(text)):
        lines = (function.end_lineno or 0) - function.lineno + 1
        parameters = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
        if lines > MAX_FUNCTION_LINES:
            yield f"{file} {name} lines", lines
        if len(parameters) > MAX_PARAMETERS and not file.startswith(STUDIO):
            yield f"{file} {name} parameters", len(parameters)


def test_functions_and_files_keep_their_budgets() -> None:
    files = _list_files()
    assert len(files) >= 900
    sizes = {name: size for file in files for name, size in _list_excesses(file)}
    broken = [f"{name}: {size}" for name, size in sizes.items() if name not in EXCEPTIONS]
    broken += [f"{name}: needs no exception" for name in EXCEPTIONS if name not in sizes]
    assert not broken, "\n".join(broken)


def test_few_exceptions_stay() -> None:
    assert all(EXCEPTIONS.values())
    assert len(EXCEPTIONS) <= 10
