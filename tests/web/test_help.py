"""The documentation is one click away on every page, and its links lead somewhere."""

import re
from urllib.parse import urljoin

import httpx
import pytest

from tests.clients import tight
from tests.factories import Enter
from topkapi.app.domain.enums import Role

LINK = re.compile(r'(?:href|src)="([^"]+)"')


@pytest.mark.parametrize(
    ("role", "page", "first"),
    [
        (Role.ASSESSOR, "/queue", "judging.md"),
        (Role.RESEARCHER, "/studies", "README.md"),
        (Role.ADMIN, "/people", "README.md"),
    ],
)
def test_the_header_leads_to_the_help(
    client: httpx.Client, role: Role, page: str, first: str, enter: Enter
) -> None:
    enter(role=role)
    shown = client.get(page).text
    assert re.search(rf'<a [^>]*href="[^"]*/help/{first}"[^>]*>Help</a>', tight(shown))
    assert client.get(f"/help/{first}").status_code == 200
    assert "How-to guides" in client.get("/help/").text


@pytest.mark.thorough
def test_links_and_pictures_of_the_help_lead_somewhere(client: httpx.Client, enter: Enter) -> None:
    enter()
    texts: dict[str, str] = {}
    waiting, lost = ["/help/README.md"], []
    while waiting:
        address = waiting.pop()
        if address in texts:
            continue
        answer = client.get(address)
        texts[address] = answer.text if address.endswith(".md") else ""
        if answer.status_code != 200:
            lost.append(address)
        article = texts[address].partition("<article")[2]
        found = [urljoin(address, link) for link in LINK.findall(article)]
        waiting += [link.partition("#")[0] for link in found if link.startswith("/")]
    assert lost == []
    assert {"/help/judging.md", "/help/reference/commands.md", "/help/images/report.png"} <= set(
        texts
    )
    anchors = {
        urljoin(address, link)
        for address, text in texts.items()
        for link in LINK.findall(text.partition("<article")[2])
        if "#" in link and not link.startswith("http")
    }
    missing = [
        anchor
        for anchor in sorted(anchors)
        if f'id="{anchor.partition("#")[2]}"' not in texts[anchor.partition("#")[0]]
    ]
    assert missing == []


@pytest.mark.parametrize("path", ["nothing.md", "../pyproject.toml", "conf.py", "%2e%2e/LICENSE"])
def test_only_pages_and_pictures_are_shown(client: httpx.Client, path: str, enter: Enter) -> None:
    enter()
    assert client.get(f"/help/{path}").status_code == 404
