"""Find numbers of seconds in tests: `python .ci/check_seconds.py [--except FOLDER]...`.

A test waits for events (`tests/waiting.py`), never for a time: a starved machine exceeds any. What
is found needs a reason on its lines or the line above: `# seconds: <why no machine is too slow>`.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SLEEPS = {"sleep", "wait_for_timeout"}
WAITS = {
    *("wait", "join", "result", "exception", "acquire", "wait_for", "timeout", "timeout_at"),
    *("fail_after", "move_on_after", "call_later", "within", "Timer", "settimeout", "poll"),
    *("set_default_timeout", "set_default_navigation_timeout"),
}
CLOCKS = {"monotonic", "perf_counter", "process_time", "time.time", "performance.now"}
CLIENTS = {
    f"httpx.{name}" for name in ("get", "post", "request", "stream", "Client", "AsyncClient")
}
DATA = {"timedelta", "datetime"}  # of a given clock
NAMED = re.compile(r"(^|_)(timeout|seconds|deadline|patience|within|delay|busy_ms)(_ms)?$", re.I)
IN_TEXT = re.compile(
    r"set(Timeout|Interval)\([^;]*?,\s*[1-9]|waitForTimeout|performance\.now\(\)"
    r"|_timeout\s*=\s*[1-9]|\bsleep\((0?\.)?[1-9]"
)
REASON = re.compile(r"#\s*seconds: \S")


def number(node: ast.AST | None) -> bool:
    """Return whether a node is a literal number other than 0."""
    if isinstance(node, ast.UnaryOp):
        return number(node.operand)
    if isinstance(node, ast.BinOp):
        return number(node.left) and number(node.right)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value != 0


def called(node: ast.Call) -> str:
    """Return the dotted name of what is called, as far as it has one."""
    found = ast.unparse(node.func)
    return found if re.fullmatch(r"[\w.]+", found) else found.rpartition(".")[2]


def in_call(node: ast.Call) -> str:
    """Return what is wrong with a call, or nothing."""
    whole = called(node)
    name, given = whole.rpartition(".")[2], {each.arg for each in node.keywords}
    if (
        name in SLEEPS
        and node.args
        and not (isinstance(node.args[0], ast.Constant) and node.args[0].value == 0)
    ):
        return "sleeps"
    if whole in CLOCKS or (name in CLOCKS and not node.args):
        return "reads a clock"
    if whole in CLIENTS and not given & {"timeout", "transport"}:
        return "gives up after five seconds, by default"
    if name in WAITS and any(map(number, node.args)):
        return f"gives {name} a number"
    for keyword in node.keywords:
        if name not in DATA and NAMED.search(keyword.arg or "") and number(keyword.value):
            return f"gives {keyword.arg} a number"
    for first, second in zip(node.args, node.args[1:], strict=False):
        text = first.value if isinstance(first, ast.Constant) else None
        if isinstance(text, str) and NAMED.search(text.rpartition(".")[2]) and number(second):
            return f"sets {text}"
    return ""


def in_node(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield what is wrong with a node, and where."""
    if isinstance(node, ast.Call) and (problem := in_call(node)):
        yield node, problem
    if isinstance(node, ast.Assign | ast.AnnAssign) and number(node.value):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if NAMED.search(ast.unparse(target)):
                yield node, f"sets {ast.unparse(target)}"
    if isinstance(node, ast.arguments):
        named = [*node.posonlyargs, *node.args][::-1], node.defaults[::-1]
        for each, default in (
            *zip(*named, strict=False),
            *zip(node.kwonlyargs, node.kw_defaults, strict=True),
        ):
            if NAMED.search(each.arg) and number(default):
                yield each, f"sets {each.arg}"
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        for found in IN_TEXT.finditer(node.value):
            yield node, f"says {found[0].strip()!r}"


def problems(path: Path) -> Iterator[str]:
    """Yield the numbers of seconds in a file that have no reason."""
    source = path.read_text()
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        for where, problem in in_node(node):
            first, last = where.lineno, where.end_lineno or where.lineno  # type: ignore[attr-defined]
            if not any(map(REASON.search, lines[max(0, first - 2) : last])):
                yield f"{path.relative_to(ROOT)}:{first}: {problem}"


def main(arguments: list[str]) -> int:
    """Print what was found; return 1 if there is anything."""
    left_out = {ROOT / each for each in arguments if each != "--except"}
    found = [
        problem
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if not left_out & {path, *path.parents}
        for problem in sorted(set(problems(path)))
    ]
    sys.stdout.writelines(f"{each}\n" for each in found)
    if found:
        sys.stdout.write("Wait for an event (tests/waiting.py), or say why: # seconds: <reason>\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
