"""The page of a phone in a real browser, over HTTPS with a certificate and a push service of the test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from playwright.async_api import Browser, Page, async_playwright, expect

import needs
from chromium import FLAGS, HEADLESS
from phone_client import AGENT, PushService
from ports import free_ports

_SUBSCRIBE = """(given) => {
  Notification.requestPermission = async () => "granted";
  PushManager.prototype.subscribe = async () => ({ toJSON: () => given });
}"""
"""The push service of the browser's maker cannot be reached from a test."""


@asynccontextmanager
async def phone_browser() -> AsyncIterator[Browser]:
    """Start a browser that takes the certificate of the test, also for service workers."""
    async with async_playwright() as playwright:
        flags = [*FLAGS, "--ignore-certificate-errors"]
        opened = await playwright.chromium.launch(executable_path=needs.browser(), args=flags, headless=HEADLESS)
        yield opened
        await opened.close()


def phone_settings(folder: Path, push: PushService) -> dict[str, Any]:
    """Return settings of a server that phones reach at https://localhost, for `running_server`."""
    (port,), (certificate, key) = free_ports(1), _certificate(folder)
    return {
        "phone__url": f"https://localhost:{port}",
        "phone__port": port,
        "phone__certificate": certificate,
        "phone__key": key,
        "phone__push_services": (push.url,),
    }


def _certificate(folder: Path) -> tuple[str, str]:
    """Write a certificate for localhost and its key; return their paths."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    files = folder / "localhost.pem", folder / "localhost-key.pem"
    files[0].write_bytes(made.public_bytes(Encoding.PEM))
    files[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return str(files[0]), str(files[1])


async def on_phone(browser: Browser, url: str, scheme: Literal["light", "dark"] = "light") -> Page:
    """Open a page on a screen of the size of a phone's."""
    context = await browser.new_context(
        viewport={"width": 390, "height": 844}, color_scheme=scheme, user_agent=AGENT, ignore_https_errors=True
    )
    page = await context.new_page()
    await page.goto(url)
    return page


async def turn_notifications_on(page: Page, push: PushService) -> None:
    """Press the button; the subscription is one of the test's push service."""
    await page.evaluate(f"({_SUBSCRIBE})", push.subscription())
    await page.get_by_role("button", name="Notify this phone").click()
    await expect(page.get_by_text("This phone is told of new questions.")).to_be_visible()


async def follow(page: Page, link: str) -> None:
    """Open the link of a notification."""
    await page.goto("about:blank")  # else only the fragment changes
    await page.goto(link)
