"""Path traversal: however a path is written, nothing outside the dashboard's files is served."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.surfaces.http.routes.dashboard import Files
from tests.surfaces.http.in_process_server import served

pytestmark = pytest.mark.req("P3")
WAYS = [
    "/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/assets/../../secret.txt", "/docs/../../secret.txt",
    "/assets/%2e%2e/%2e%2e/secret.txt", "/..\\secret.txt", "/%5c..%5csecret.txt", "//secret.txt", "/./../secret.txt",
    "/%00secret.txt", "/assets/..;/secret.txt", "/api/docs/../../secret.txt", "/api/docs/%2e%2e/%2e%2e/secret.txt",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<p>the dashboard</p>")
    (static / "assets" / "page-1a2b.js").write_text("console.log(1)")
    (tmp_path / "secret.txt").write_text("a secret")
    (static / "link.txt").symlink_to(tmp_path / "secret.txt")
    return static


async def test_no_path_leads_out_of_the_folder(folder: Path) -> None:
    async with served(authentication=(), on_socket=True) as found, found.client() as client:
        found.state.files = Files(folder)
        for way in [*WAYS, "/link.txt", str(folder.parent / "secret.txt")]:
            request = client.build_request("GET", found.base)
            request.url = request.url.copy_with(raw_path=way.encode())
            answer = await client.send(request)
            assert "a secret" not in answer.text, way
            assert answer.status_code in (200, 400, 404), way


async def test_what_is_there_is_served_as_it_is_to_be_kept(folder: Path) -> None:
    async with served(authentication=()) as found, found.client() as client:
        found.state.files = Files(folder)
        asset = await client.get("/assets/page-1a2b.js")
        assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert asset.headers["content-type"].startswith("text/javascript")
        page = await client.get("/runbooks/01m7hk5wprf2yvfhhcs4kqadfv")
        assert page.text == "<p>the dashboard</p>" and page.headers["cache-control"] == "no-cache"
        again = await client.get("/", headers={"If-None-Match": page.headers["etag"]})
        assert again.status_code == 304 and again.content == b""
        assert (await client.get("/assets/other.js")).status_code == 404
        assert (await client.get("/api/nothing")).json()["code"] == "request.unknown_path"
