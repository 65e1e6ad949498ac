"""Where a person signs in: challenges, metadata of resources and of authorization servers, and what is refused."""

import pytest

from oauth.authorization_server import FakeServer, fake_server
from ui_mcp.errors import UpstreamError
from ui_mcp.http_client import open_client
from ui_mcp.oauth.metadata import Challenge, Discovered, canonical, discover, is_internal, read_challenge, require_safe


async def found_by(server: FakeServer, challenge: Challenge = Challenge()) -> Discovered:
    async with open_client() as http:
        return await discover(http, f"{server.base}/api", challenge)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", Challenge()),
        ("Basic realm=x", Challenge()),
        ('Bearer scope="a b", error="insufficient_scope"', Challenge(scope="a b", error="insufficient_scope")),
        ("Bearer resource_metadata=https://x/y", Challenge("https://x/y")),
        ('Basic realm="a", Bearer realm="b", scope="c"', Challenge(scope="c")),
    ],
)
def test_the_bearer_challenge_is_read(header: str, expected: Challenge) -> None:
    assert read_challenge(header) == expected


@pytest.mark.covers("GW-SIGN-5")
async def test_the_resource_names_its_authorization_server_and_scopes() -> None:
    async with fake_server() as server:
        assert server.resource is not None
        server.resource["scopes_supported"] = ["files"]
        found = await found_by(server)
        challenged = await found_by(server, Challenge(scope="only this"))

    assert (found.server.token, found.resource) == (f"{server.base}/token", f"{server.base}/api")
    assert (found.scopes, challenged.scopes) == (("files",), ("only", "this"))


@pytest.mark.covers("GW-SIGN-5")
async def test_a_server_of_the_first_era_is_its_own_authorization_server_at_the_default_paths() -> None:
    async with fake_server() as server:
        server.resource = server.metadata = None
        found = await found_by(server)

    assert found.resource == ""
    assert (found.server.authorization, found.server.registration) == (
        f"{server.base}/authorize",
        f"{server.base}/register",
    )


@pytest.mark.covers("GW-SIGN-5")
@pytest.mark.parametrize(
    ("where", "key", "value", "message"),
    [
        ("resource", "resource", "https://bank.example/api", "is about https://bank.example/api"),
        ("resource", "resource", "{base}/ap", "is about"),
        ("resource", "authorization_servers", [], "names no authorization server"),
        ("resource", "authorization_servers", ["http://plain.example"], "not an https address"),
        ("metadata", "issuer", "https://bank.example", "says it is https://bank.example"),
        ("metadata", "token_endpoint", "http://plain.example/token", "not an https address"),
        ("metadata", "code_challenge_methods_supported", ["plain"], "PKCE with S256"),
        ("metadata", "code_challenge_methods_supported", None, "PKCE with S256"),
    ],
)
async def test_metadata_that_leads_elsewhere_is_refused(where: str, key: str, value: object, message: str) -> None:
    async with fake_server() as server:
        given = value.format(base=server.base) if isinstance(value, str) else value
        getattr(server, where)[key] = given
        with pytest.raises(UpstreamError, match=message):
            await found_by(server)


async def test_metadata_at_another_origin_is_not_asked_for() -> None:
    async with fake_server() as server:
        found = await found_by(server, Challenge("https://bank.example/metadata"))

    assert found.server.issuer == server.base


@pytest.mark.covers("GW-SIGN-5")
def test_a_resource_elsewhere_does_not_lead_into_this_network() -> None:
    assert require_safe("http://127.0.0.1:8/token", "http://127.0.0.1:9/mcp")
    for inside in ("https://127.0.0.1/token", "https://10.0.0.8/token", "https://localhost/t", "https://[::1]/t"):
        with pytest.raises(UpstreamError, match="inside your network"):
            require_safe(inside, "https://mcp.example")
    for unsafe in ("http://id.example/t", "ftp://x/y", "javascript:alert(1)", "https://", "https://u:p@id.example/t"):
        with pytest.raises(UpstreamError, match="not an https address"):
            require_safe(unsafe, "https://mcp.example")


def test_internal_hosts_and_canonical_addresses() -> None:
    assert [host for host in ("a.local", "192.168.0.1", "fd00::1", "8.8.8.8", "id.example") if is_internal(host)] == [
        "a.local",
        "192.168.0.1",
        "fd00::1",
    ]
    assert canonical("HTTPS://Files.Example/#x") == "https://files.example"
