"""What the person signs in to, by the configuration: servers behind a URL, and APIs whose credential is a sign-in."""

from collections.abc import Iterator

from ui_mcp.errors import UpstreamError
from ui_mcp.gateway.config.settings import SIGN_IN_TYPES, BackendSettings, SchemeAuth, TargetSettings
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.oauth.account import Place
from ui_mcp.oauth.metadata import require_safe

_OPENID = "/.well-known/openid-configuration"


@dataclass(frozen=True, slots=True)
class FlowUrls:
    """The endpoints that an API's document gives for one scheme."""

    authorization: str = ""
    token: str = ""
    device: str = ""
    metadata: str = ""


def server_place(settings: BackendSettings) -> Place | None:
    """Return how the person signs in to a server; None if it is a child process or has a credential already."""
    has_credential = any(name.lower() == "authorization" for name in settings.headers)
    if not settings.url or has_credential or (settings.auth and settings.auth.token):
        return None
    return _place(settings.name, settings.url, "", settings.auth or SchemeAuth())


def target_entries(settings: TargetSettings) -> Iterator[tuple[str, SchemeAuth]]:
    """Yield the sign-ins among the credentials of an API, by the name of their scheme ("" for all schemes)."""
    auth = settings.auth
    if auth is None:
        return
    for name, entry in auth.schemes.items():
        if entry.type.lower() in SIGN_IN_TYPES:
            yield name, entry
    if auth.type.lower() in SIGN_IN_TYPES:
        yield "", auth


def target_place(settings: TargetSettings, part: str, entry: SchemeAuth, found: FlowUrls) -> Place:
    """Return how the person signs in to an API; what they configured counts before what the document says.

    Raises:
        UpstreamError: the document wants the sign-in at an address that is not safe.
    """
    url = settings.base_url or settings.spec
    place = _place(f"{settings.name}/{part}" if part else settings.name, url, part, entry)
    if entry.token_url or entry.issuer:
        return place
    _require_safe(found, url)
    if found.metadata.endswith(_OPENID) and not found.token:
        return _place(place.name, url, part, entry, issuer=found.metadata.removesuffix(_OPENID))
    return _place(place.name, url, part, entry, urls=found)


def _require_safe(found: FlowUrls, url: str) -> None:
    for one in (found.authorization, found.token, found.device, found.metadata):
        if one:
            try:
                require_safe(one, url if "://" in url else one)  # a file of one's own may name any place
            except UpstreamError as error:
                raise UpstreamError(
                    f"{error.message}\nWrite token_url under auth in nlui.yaml if it is right."
                ) from error


def _place(
    name: str, url: str, part: str, entry: SchemeAuth, *, issuer: str = "", urls: FlowUrls = FlowUrls()
) -> Place:
    return Place(
        name,
        url,
        part,
        issuer=entry.issuer or issuer,
        authorization_url=entry.authorization_url or urls.authorization,
        token_url=entry.token_url or urls.token,
        device_url=entry.device_url or urls.device,
        client_id=entry.client_id,
        client_secret=entry.client_secret,
        client_auth=entry.client_auth,
        scopes=entry.scopes,
        audience=entry.audience,
    )
