"""The person's listener of a gateway that has no chat page; it serves the approvals."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from ui_mcp.gateway.approvals.http import ApprovalPages
from ui_mcp.gateway.approvals.service import ApprovalService
from ui_mcp.jsontypes import JsonObject
from ui_mcp.version import bundled_version
from ui_mcp.webserver.person_app import (
    PERSON_FOLDER,
    Describe,
    HtmlRoute,
    PersonSite,
    entry_routes,
    file_route,
    person_app,
    person_html,
    person_page,
)
from ui_mcp.webserver.person_auth import Access
from ui_mcp.webserver.security import AccessRules, SecurityMiddleware
from ui_mcp.webserver.server import App
from ui_mcp.webserver.static import shared_style_route


def approvals_app(port: int, pages: ApprovalPages, approvals: ApprovalService) -> App:
    """Build the app on which the person answers approvals."""
    access = Access(str(port))

    def page(request: Request) -> Response:
        return person_html(person_page(), access.nonces)

    site = PersonSite(access, page, describing(approvals), [*pages.routes(), *_files()])
    return SecurityMiddleware(person_app(site), AccessRules(ports=frozenset({port})))


def person_routes(access: Access, approvals: ApprovalService) -> list[BaseRoute]:
    """Return what a shared listener adds for the person: the sign-in, and the page of approvals."""

    async def page(request: Request) -> Response:
        return person_html(person_page(), access.nonces)

    return [*entry_routes(access, describing(approvals)), HtmlRoute("/approvals", page, methods=["GET"]), *_files()]


def _files() -> list[BaseRoute]:
    return [file_route("/person/assets", PERSON_FOLDER), shared_style_route()]


def describing(approvals: ApprovalService) -> Describe:
    """Return the description that the page loads; a gateway has no app to embed."""

    async def describe(request: Request) -> JsonObject:
        pending = len(await approvals.pending())
        return {"app_url": "", "version": bundled_version(), "base_dir": "", "pending": pending}

    return describe
