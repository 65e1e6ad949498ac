"""Web push as a channel: sends each notice to every paired phone that has notifications on."""

import hashlib
import time

import anyio
from anyio import to_thread

from ui_mcp.inbox.phone.channels import SUBJECT, posted
from ui_mcp.inbox.phone.devices import Device, Devices
from ui_mcp.inbox.phone.notices import Notice
from ui_mcp.inbox.phone.webpush import VapidKey, encrypted
from ui_mcp.jsontypes import dumps
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger

_GONE = frozenset({404, 410})
_log = logger("phone")


def push_key(devices: Devices) -> VapidKey:
    """Return the account's key for push services, which is created with the first use."""
    return VapidKey.kept_in(devices.folder / "vapid.pem")


def push_channel(devices: Devices, listener: str) -> "WebPush":
    """Return the channel to the phones that are paired with a listener."""
    return WebPush(devices, listener, push_key(devices))


@dataclass(frozen=True, slots=True)
class WebPush:
    """Sends to every paired phone that has notifications on."""

    devices: Devices
    listener: str
    key: VapidKey
    name: str = "web push"

    async def send(self, notice: Notice) -> None:
        """Send one notice to all phones; a browser that has unsubscribed gets no more."""
        found = await to_thread.run_sync(self.devices.listed)
        async with anyio.create_task_group() as tasks:
            for device in found:
                if device.push is not None and device.listener == self.listener:
                    tasks.start_soon(self._send, device, notice)

    async def _send(self, device: Device, notice: Notice) -> None:
        assert device.push is not None
        tag = hashlib.sha256(notice.id.encode()).hexdigest()[:32]
        message = dumps({"title": SUBJECT, "body": notice.text, "link": notice.link, "tag": tag})
        body = await to_thread.run_sync(encrypted, message.encode(), device.push)
        headers = {
            "Authorization": self.key.authorization(device.push.endpoint, self.listener),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(max(0, int(min(notice.expires_at - time.time(), 86_400)))),
            "Urgency": "high",
        }
        status = await posted(device.push.endpoint, headers, body)
        if status in _GONE:
            await to_thread.run_sync(self.devices.subscribe, device.id, None)
        elif status >= 300:
            _log.warning("the push service of %s answered %d", device.name, status)
