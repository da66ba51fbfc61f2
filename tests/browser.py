"""A real browser for tests: chromium without a window, driven over its debugging pipe by the standard library alone."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = next((p for n in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(n))), None)
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-default-apps", "--use-gl=angle", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader", "--hide-scrollbars", "--mute-audio", "--remote-debugging-pipe",
)  # fmt: skip
_PATIENCE = 300.0  # s, on a busy machine


class Browser:
    """One page: what it logs, what it asks the network for, and what scripts in it answer."""

    def __init__(self, send: int, receive: int) -> None:
        self.send, self.receive = send, receive
        self.number = 0
        self.session: str | None = None
        self.unread = b""
        self.loaded = False
        self.problems: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The answer to a command of the DevTools protocol."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.send, json.dumps(message).encode() + b"\0")
        while (found := self.next_message()).get("id") != self.number:
            self.note(found)
        assert "error" not in found, f"{method}: {found['error']}"
        return dict(found["result"])

    def next_message(self) -> dict[str, Any]:
        while b"\0" not in self.unread:
            ready, _, _ = select.select([self.receive], [], [], _PATIENCE)
            chunk = os.read(self.receive, 1 << 20) if ready else b""
            assert chunk, "the browser says nothing more"
            self.unread += chunk
        text, _, self.unread = self.unread.partition(b"\0")
        return dict(json.loads(text))

    def note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                self.problems.append(params["exceptionDetails"].get("exception", {}).get("description", str(params)))
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                self.problems.append(str([a.get("value", a.get("description")) for a in params["args"]]))
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                if "GPU stall due to ReadPixels" not in params["entry"]["text"]:  # of screenshots, by the software renderer
                    self.problems.append(params["entry"]["text"])
            case "Page.loadEventFired":
                self.loaded = True
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])

    def open(self, file: Path, width: int = 1280, height: int = 800, dark: bool = False) -> None:
        """Load a file, and wait until its page has drawn something."""
        self.problems.clear()
        self.requests.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.loaded = False
        self.call("Page.navigate", url=file.as_uri())
        while not self.loaded:
            self.note(self.next_message())
        assert self.ask("Boolean(window.supple)"), self.problems
        self.ask("new Promise((go) => (function wait() { supple.frames > 0 ? go() : setTimeout(wait, 20) })())")

    def ask(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def picture(self, file: Path, quality: int | None = None) -> None:
        """A screenshot."""
        how: dict[str, Any] = {"format": "png"} if quality is None else {"format": "jpeg", "quality": quality}
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **how)["data"]))


@contextmanager
def browser() -> Iterator[Browser]:
    """A Browser, closed afterwards."""
    assert CHROMIUM is not None
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    with tempfile.TemporaryDirectory() as folder:

        def wire() -> None:
            os.dup2(to_read, 103), os.dup2(from_write, 104)  # first away from 3 and 4, which may be among ours
            os.dup2(103, 3), os.dup2(104, 4)

        process = subprocess.Popen(
            [CHROMIUM, *_FLAGS, f"--user-data-dir={folder}"], preexec_fn=wire, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read), os.close(from_write)
        try:
            yield Browser(to_write, from_read)
        finally:
            os.close(to_write), os.close(from_read)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            shutil.rmtree(folder, ignore_errors=True)
            Path(folder).mkdir(exist_ok=True)
