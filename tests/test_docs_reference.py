"""Every command, setting, route, error code and public name is in the reference."""

import inspect
import re
from functools import cache

import topkapi
from docs import generate
from tests.documentation import REFERENCE, ROOT
from tests.web.test_authorisation import ADMINS, ALLOWED, PEOPLE, RESEARCH

ROLES: dict[object, str] = {PEOPLE: "all", RESEARCH: "researcher", ADMINS: "admin"}
ROW = re.compile(r"^\| `(\w+) (/[^`]+)` \|.*\| (\w+) \|$", re.MULTILINE)


@cache
def page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def test_the_reference_is_that_of_the_program() -> None:
    made = generate.pages()
    assert {path.name for path in REFERENCE.iterdir()} == set(made)
    outdated = [name for name, text in made.items() if page(name) != text]
    assert outdated == [], "run python -m docs.generate"
    assert generate.CHOICES_MODULE.read_text(encoding="utf-8") == generate.choices_module()


def test_every_address_of_the_api_has_the_role_that_it_needs() -> None:
    rows = {f"{method} /api/v1{path}": role for method, path, role in ROW.findall(page("api.md"))}
    paths = generate.api_app().openapi()["paths"]
    routes = {f"{m.upper()} {path}" for path, each in paths.items() for m in each}
    routes = {route for route in routes if " /api/v1/" in route}
    assert set(rows) == routes
    plain = {re.sub(r"{(\w+):\w+}", r"{\1}", route): roles for route, roles in ALLOWED.items()}
    assert rows == {route: ROLES[plain[route]] for route in routes}


def test_every_error_code_of_the_program_is_listed() -> None:
    shown = re.compile(r"""(?:show\(\s*request,\s*\d+,|Failure\(|\bcode =)\s*"(\w+)\"""")
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.py"))
    codes = {code for source in sources for code in shown.findall(source)}
    assert len(codes) > 20
    assert {code for code in codes if f"| `{code}` |" not in page("errors.md")} == {"error"}


def test_every_public_name_of_the_library_is_described() -> None:
    functions = [name for name in topkapi.__all__ if inspect.isfunction(getattr(topkapi, name))]
    sections = page("library.md").split("\n### ")
    for name in functions:
        (section,) = [each for each in sections if each.startswith(f"topkapi.{name}\n")]
        assert "| parameters | |" in section, name
        assert "```pycon" in section, name
    assert re.findall(r"^\| `\w+` \| +\|$", page("library.md"), re.M) == []
