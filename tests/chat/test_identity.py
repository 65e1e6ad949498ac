import pytest

from ui_mcp.chat.identity import POST_ASSISTANT, POST_USER, ROLES, AccessTokens, Authenticator, Principal, principal
from ui_mcp.chat.store import ChatStore
from ui_mcp.errors import ChatError


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000_000

    def __call__(self) -> int:
        return self.now


@pytest.mark.covers("R-ID-5")
async def test_a_token_is_recognised_and_its_text_is_nowhere_in_the_store(store: ChatStore) -> None:
    keys = AccessTokens(store)
    text = await keys.create("alice", ROLES["human"])
    token_id = await keys.verify(text)

    assert token_id is not None
    assert len(text.split("_", 2)[2]) >= 43
    assert await keys.holder(token_id) == Principal("alice", ROLES["human"])
    found = await store.token(token_id)
    assert found is not None
    assert text.split("_", 2)[2].encode() not in found[1]
    for wrong in ("", "x", text[:-1], f"{text}x", text.replace("uimcp", "other"), f"uimcp_{token_id}_"):
        assert await keys.verify(wrong) is None


@pytest.mark.covers("R-ID-3")
async def test_rotation_keeps_the_subscriber_and_the_old_token_for_a_while(store: ChatStore) -> None:
    clock = Clock()
    store._clock = clock  # type: ignore[attr-defined]
    keys = AccessTokens(store, clock)
    old = await keys.create("phone", ROLES["human"], subscriber="human")

    new = await keys.rotate("phone", grace=10)
    both = [await keys.verify(old), await keys.verify(new)]
    clock.now += 11_000_000

    assert None not in both
    assert await keys.verify(old) is None
    assert await keys.holder(await keys.verify(new) or "") == Principal("human", ROLES["human"])


async def test_a_revoked_token_opens_nothing_also_on_open_connections(store: ChatStore) -> None:
    keys = AccessTokens(store)
    directory = Authenticator(keys, principal("human", "human"))
    name = await directory.authenticate(await keys.create("alice", ROLES["agent"]))
    assert name is not None
    assert (await directory.of(name)).name == "alice"

    await keys.revoke("alice")

    assert await directory.of(name) == Principal("anonymous", frozenset())
    with pytest.raises(ChatError, match="No valid token"):
        await keys.revoke("alice")


@pytest.mark.covers("R-ID-1", "R-ID-4")
async def test_a_caller_without_a_token_is_who_the_transport_says(store: ChatStore) -> None:
    human = principal("human", "human")
    directory = Authenticator(AccessTokens(store), human)

    assert await directory.authenticate(None) == "local"
    assert await directory.authenticate("wrong") is None
    assert await directory.of("local") == human


@pytest.mark.covers("R-ID-6")
async def test_a_chat_server_asks_for_a_token_once_there_is_one_for_its_side(store: ChatStore) -> None:
    keys = AccessTokens(store)
    await keys.create("bot", ROLES["agent"])
    human = Authenticator(keys, principal("human", "human"), open_scope=POST_USER)
    agent = Authenticator(keys, principal("agent", "agent"), open_scope=POST_ASSISTANT)

    assert await human.authenticate(None) == "local"
    assert await agent.authenticate(None) is None


async def test_a_name_is_taken_while_its_token_is_good(store: ChatStore) -> None:
    keys = AccessTokens(store)
    await keys.create("alice", ROLES["human"])

    with pytest.raises(ChatError, match="rotate or revoke"):
        await keys.create("alice", ROLES["human"])


@pytest.mark.covers("R-ID-5")
async def test_a_code_is_good_for_one_token_and_for_nothing_else(store: ChatStore) -> None:
    clock = Clock()
    store._clock = clock  # type: ignore[attr-defined]
    keys = AccessTokens(store, clock)
    await keys.create("phone", ROLES["human"], subscriber="human")
    code, old = await keys.code("phone"), await keys.code("phone", seconds=5)
    clock.now += 6_000_000

    assert await keys.verify(code) is None
    assert await keys.exchange(old) is None
    token = await keys.exchange(code)
    assert await keys.exchange(code) is None
    assert await keys.holder(await keys.verify(token or "") or "") == Principal("human", ROLES["human"])
    assert [entry.name for entry, _ in await keys.listed()] == ["phone", "phone"]
    assert await keys.exchange(token or "") is None
    await keys.revoke("phone")
    assert await keys.verify(token or "") is None


@pytest.mark.covers("R-ID-3")
async def test_devices_share_a_subscriber_or_have_their_own(store: ChatStore) -> None:
    keys = AccessTokens(store)
    tokens = [
        await keys.create("phone", ROLES["human"], subscriber="human"),
        await keys.create("laptop", ROLES["human"], subscriber="human"),
        await keys.create("tablet", ROLES["human"]),
    ]

    holders = [await keys.holder(await keys.verify(token) or "") for token in tokens]

    assert [holder.name if holder else None for holder in holders] == ["human", "human", "tablet"]
