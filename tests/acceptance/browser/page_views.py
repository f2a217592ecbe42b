"""How tests look at the dashboard: pages in light and dark, wide and narrow, pictures of them, and what axe says."""

from __future__ import annotations

from typing import Any, Literal

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from tests.acceptance.browser.server import Server
from tests.house.tree import ROOT

PICTURES = ROOT / "build" / "screenshots"
AXE = ROOT / "dashboard" / "node_modules" / "axe-core" / "axe.min.js"
GROUND = "getComputedStyle(document.documentElement).backgroundColor"
GRAVE = ("serious", "critical")
WIDE = {"width": 1360, "height": 860}
NARROW = {"width": 375, "height": 780}
Scheme = Literal["light", "dark"]


class Eyes:
    """Pages of one test. Whatever breaks in them is told at the end."""

    def __init__(self, browser: Browser, server: Server, store: str, *, takes_pictures: bool) -> None:
        self._takes_pictures = takes_pictures
        self._browser = browser
        self._server = server
        self._store = store
        self._contexts: list[BrowserContext] = []
        self._faults: list[str] = []

    def open(
        self, path: str = "/", *, scheme: Scheme = "light", is_narrow: bool = False, bypass_csp: bool = False,
        reduced_motion: bool = True, key: str = "",
    ) -> Page:  # fmt: skip
        """A page in a fresh browser profile, once its heading is there; with a `key`, signed in."""
        context = self._browser.new_context(
            base_url=self._server.url, viewport=NARROW if is_narrow else WIDE, color_scheme=scheme,  # type: ignore[arg-type]
            bypass_csp=bypass_csp, reduced_motion="reduce" if reduced_motion else "no-preference", locale="en-GB",
            timezone_id="UTC",
        )  # fmt: skip
        self._contexts.append(context)
        if key:
            answer = context.request.post("/api/session", data={"key": key})
            assert answer.ok, answer.text()
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: self._faults.append(f"{path}: {error}"))
        page.on("console", lambda message: self._listen(path, message))
        page.goto(path)
        page.locator("main h1").first.wait_for()
        return page

    def _listen(self, path: str, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            self._faults.append(f"{path}: {message.text}")

    def picture(self, page: Page, name: str) -> None:
        """Kept under build/screenshots, for people to look at; a normal run takes none."""
        if not self._takes_pictures:
            return
        folder = PICTURES / self._store
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{name}.png")

    def pictures(self, path: str, name: str, ready: str, key: str = "") -> None:
        """A page in light, dark and narrow, once what `ready` selects is there; a normal run takes none."""
        if not self._takes_pictures:
            return
        for scheme, is_narrow in (("light", False), ("dark", False), ("light", True)):
            page = self.open(path, scheme=scheme, is_narrow=is_narrow, key=key)  # type: ignore[arg-type]
            page.locator(ready).first.wait_for()
            assert self.has_no_sideways_scroll(page)
            self.picture(page, f"{name}-{'narrow' if is_narrow else scheme}")

    def has_no_sideways_scroll(self, page: Page) -> bool:
        return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))

    def check_accessible(self, path: str, ready: str, key: str = "") -> None:
        """Axe finds nothing serious in light, nor in the colours of dark."""
        page = self.open(path, bypass_csp=True, key=key)
        page.locator(ready).first.wait_for()
        self.check_page(page)
        light = page.evaluate(GROUND)
        page.emulate_media(color_scheme="dark")
        assert page.evaluate(GROUND) != light
        self.check_page(page, runOnly=["color-contrast"])

    def check_page(self, page: Page, **more: Any) -> None:
        """Axe finds nothing serious on a page as it stands; it must have been opened with `bypass_csp`."""
        if not page.evaluate("'axe' in window"):
            page.add_script_tag(content=AXE.read_text(encoding="utf-8"))
        asked = {"resultTypes": ["violations"], **more}
        found: dict[str, Any] = page.evaluate("asked => axe.run(document, asked)", asked)
        grave = [each for each in found["violations"] if each["impact"] in GRAVE]
        told = [
            f"{each['id']}: {node['html'][:200]} {node['failureSummary']}" for each in grave for node in each["nodes"]
        ]
        assert not told, "\n".join(told)

    def close(self) -> list[str]:
        for context in self._contexts:
            context.close()
        return self._faults
