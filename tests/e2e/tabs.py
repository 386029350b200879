"""Tabs of the browser that tests use one after another. A new one is a new window, a new process and all scripts read
anew, a second and a half to two of processor time; one that is tidied up is as good and costs a tenth of that."""

from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, ViewportSize
from playwright.sync_api import Error as BrowserError

from tests.waiting import PATIENCE_SECONDS

WIDE: ViewportSize = {"width": 1280, "height": 800}
NARROW: ViewportSize = {"width": 360, "height": 740}
# As tests.waiting: nothing that passes takes so long.
PATIENCE_MS = 1000 * PATIENCE_SECONDS
# For a page that is about to be left: it is told that its network is back while it still can send, which its outbox
# would do, and what it says as it goes may arrive as well.
SILENCE = """() => {
  window.fetch = () => new Promise(() => {});
  XMLHttpRequest.prototype.send = () => {};
}"""
# Asked by the page itself, the empty page stays in the same process, which has read our scripts and axe-core already.
LEAVE = """() => {
  if (location.protocol !== "about:") sessionStorage.clear();
  location.replace("about:blank");
}"""


class Tabs:
    """Each tab is the only one of a browser context of its own: two of them know nothing of each other."""

    def __init__(self, browser: Browser, site: str) -> None:
        self.browser, self.site = browser, site
        self.tidy: list[Page] = []
        self.wires: dict[Page, CDPSession] = {}

    def take(self, size: ViewportSize) -> Page:
        """A tab without cookies, in which nothing is stored, nothing is cached and nowhere has been gone yet."""
        page = self.tidy.pop() if self.tidy else self.new(size)
        page.set_viewport_size(size)
        page.set_default_timeout(PATIENCE_MS)
        return page

    def new(self, size: ViewportSize, **context_args: Any) -> Page:
        page = self.browser.new_context(viewport=size, base_url=self.site, **context_args).new_page()
        page.set_default_timeout(PATIENCE_MS)
        return page

    def give_back(self, page: Page) -> None:
        """The next test gets it, but for one that was closed, has company, or does not do what it is told."""
        try:
            kept = not page.is_closed() and page.context.pages == [page]
            if kept:
                self._leave(page)
                self.forget(page)
                self.tidy.append(page)
        except BrowserError:
            kept = False
        if not kept:
            self.wires.pop(page, None)
            page.context.close()

    def forget(self, page: Page) -> None:
        """What the browser keeps of earlier visits, but for cookies and what the tab itself holds."""
        wire = self._wire(page)
        kinds = "local_storage,indexeddb,cache_storage,service_workers,file_systems"
        wire.send("Storage.clearDataForOrigin", {"origin": self.site, "storageTypes": kinds})
        wire.send("Network.clearBrowserCache")
        # To switch it off empties what the page's process keeps in memory.
        for off in (True, False):
            wire.send("Network.setCacheDisabled", {"cacheDisabled": off})

    def _leave(self, page: Page) -> None:
        context = page.context
        # Nothing that the page would still send reaches the tables that are being emptied.
        context.set_offline(True)
        page.unroute_all(behavior="ignoreErrors")
        page.evaluate(SILENCE)
        page.evaluate(LEAVE)
        page.wait_for_url("about:blank")
        page.mouse.move(-1, -1)
        context.clear_cookies()
        context.clear_permissions()
        context.set_offline(False)
        self._wire(page).send("Page.resetNavigationHistory")

    def _wire(self, page: Page) -> CDPSession:
        if page not in self.wires:
            self.wires[page] = page.context.new_cdp_session(page)
        return self.wires[page]
