"""`ui://chat/…`: inbox, head and receipts of the workspace's conversations."""

from ui_mcp.chat.mcp import ChatResources
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.resources import ResourceSet
from ui_mcp.ui.server import UiServer


def provide(host: UiServer, announcements: Announcements) -> ResourceSet:
    return ChatResources(host.chats.context)
