"""What both stores promise."""

from pathlib import Path

import anyio
import pytest

from ui_mcp.chat.identity import ROLES, AccessTokens
from ui_mcp.chat.message import DEFAULT_CONVERSATION, Draft, Head
from ui_mcp.chat.service import open_store
from ui_mcp.chat.store import ChatStore, Post, Query, Token
from ui_mcp.errors import ChatError


def post(*texts: str, author: str = "user", conversation: str = DEFAULT_CONVERSATION, principal: str = "human") -> Post:
    return Post(conversation, author, principal, tuple(Draft(text) for text in texts))  # type: ignore[arg-type]


async def all_texts(store: ChatStore, conversation: str = DEFAULT_CONVERSATION) -> list[str]:
    return [message.content for message in (await store.since(Query(conversation))).messages]


@pytest.mark.covers("R-IN-3", "R-IN-4", "R-IN-7")
async def test_messages_come_back_in_the_order_they_were_committed(store: ChatStore) -> None:
    await store.append(post("one", "two"))
    await store.append(post("three", author="assistant", principal="agent"))

    page = await store.since(Query(DEFAULT_CONVERSATION))

    assert [(m.content, m.author) for m in page.messages] == [("one", "user"), ("two", "user"), ("three", "assistant")]
    assert [m.id for m in page.messages] == sorted({m.id for m in page.messages})
    assert (page.last, page.head, page.has_more) == (page.messages[-1].id, page.messages[-1].id, False)
    assert all(len(entry["id"]) == 19 for entry in page.to_json()["messages"])


@pytest.mark.covers("R-IN-2")
async def test_a_page_is_the_same_bytes_after_later_posts(store: ChatStore) -> None:
    await store.append(post("a", "b", "c"))
    before = (await store.since(Query(DEFAULT_CONVERSATION, limit=3))).to_json()["messages"]

    await store.append(post("d"))

    assert (await store.since(Query(DEFAULT_CONVERSATION, limit=3))).to_json()["messages"] == before


@pytest.mark.covers("R-IN-3")
async def test_ids_grow_when_the_clock_steps_back_and_after_a_restart(store_url: str) -> None:
    times = iter([2_000_000, 1_000_000, 1_000_000, 500_000])
    ids = []
    for _ in range(2):
        async with open_store(store_url) as store:
            store._clock = lambda: next(times)  # type: ignore[attr-defined]
            ids += [posted.id for posted in await store.append(post("x", "y"))]

    assert ids == sorted(set(ids))


@pytest.mark.covers("R-IN-11")
async def test_the_same_client_id_gives_the_first_answer_and_appends_nothing(store: ChatStore) -> None:
    once = Post(DEFAULT_CONVERSATION, "user", "human", (Draft("hello", client_id="k"),))
    first = (await store.append(once))[0]
    await store.append(post("reply", author="assistant"))

    again = (await store.append(once))[0]
    other = (await store.append(Post(DEFAULT_CONVERSATION, "user", "alice", once.drafts)))[0]

    assert (again.id, again.ts, again.repeated) == (first.id, first.ts, True)
    assert other.id > first.id
    assert await all_texts(store) == ["hello", "reply", "hello"]


@pytest.mark.covers("R-RS-4")
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 1000])
async def test_paging_with_any_limit_visits_every_message_once(store: ChatStore, limit: int) -> None:
    await store.append(post(*[str(n) for n in range(20)]))
    seen: list[str] = []
    cursor, more = 0, True
    while more:
        page = await store.since(Query(DEFAULT_CONVERSATION, after=cursor, limit=limit))
        seen += [message.content for message in page.messages]
        cursor, more = page.last or 0, page.has_more

    assert seen == [str(n) for n in range(20)]


@pytest.mark.covers("R-RS-1")
async def test_a_read_returns_exactly_what_is_after_the_cursor_known_or_not(store: ChatStore) -> None:
    ids = [posted.id for posted in await store.append(post(*"abcde"))]
    expected = {cursor: [number for number in ids if number > cursor] for cursor in (0, *ids, ids[-1] + 5, 2**63 - 1)}

    found = {cursor: (await store.since(Query(DEFAULT_CONVERSATION, cursor))).messages for cursor in expected}

    assert {cursor: [message.id for message in messages] for cursor, messages in found.items()} == expected


@pytest.mark.covers("R-RS-6")
async def test_a_filtered_page_moves_its_cursor_past_what_it_skipped(store: ChatStore) -> None:
    await store.append(post("q"))
    await store.append(post("a1", "a2", author="assistant"))

    page = await store.since(Query(DEFAULT_CONVERSATION, authors=frozenset({"user"})))

    assert [message.content for message in page.messages] == ["q"]
    assert (page.last, page.has_more) == (page.head, False)


@pytest.mark.covers("R-RS-3")
async def test_a_page_stops_at_its_byte_limit_but_holds_at_least_one_message(store: ChatStore) -> None:
    await store.append(post("é" * 400, "b" * 400, "c" * 400))

    small = await store.since(Query(DEFAULT_CONVERSATION, max_bytes=100))
    larger = await store.since(Query(DEFAULT_CONVERSATION, max_bytes=1200))

    assert [len(small.messages), len(larger.messages)] == [1, 2]
    assert small.has_more
    assert larger.has_more


@pytest.mark.covers("R-IN-8")
async def test_the_window_holds_the_newest_and_says_when_older_ones_were_left_out(store: ChatStore) -> None:
    await store.append(post("1", "2", "3"))

    whole = await store.newest(DEFAULT_CONVERSATION, 3, 1000)
    two = await store.newest(DEFAULT_CONVERSATION, 2, 1000)
    tiny = await store.newest(DEFAULT_CONVERSATION, 3, 0)
    earlier = await store.before(DEFAULT_CONVERSATION, two.messages[0].id, 2, 1000)

    assert [([m.content for m in w.messages], w.cut) for w in (whole, two, tiny, earlier)] == [
        (["1", "2", "3"], False),
        (["2", "3"], True),
        (["3"], True),
        (["1"], False),
    ]
    assert set(whole.to_json()) == {"last_id", "messages"}
    assert two.to_json()["first_id"] == two.to_json()["messages"][0]["id"]


@pytest.mark.covers("R-IN-9")
async def test_conversations_do_not_see_each_other(store: ChatStore) -> None:
    await store.append(post("here"))
    await store.append(post("there", conversation="ops"))

    assert await all_texts(store, "ops") == ["there"]
    assert await all_texts(store, "never") == []
    assert (await store.newest("never", 5, 5)).to_json() == {"last_id": None, "messages": []}


async def test_heads_tell_the_newest_message_of_people_apart(store: ChatStore) -> None:
    asked = (await store.append(post("q")))[0].id
    answered = (await store.append(post("a", author="assistant")))[0].id

    assert await store.heads() == {DEFAULT_CONVERSATION: Head(answered, asked)}


async def test_heads_after_an_id_are_those_of_conversations_that_moved_since(store: ChatStore) -> None:
    first = (await store.append(post("here")))[0].id
    await store.append(post("there", conversation="ops"))  # in the same millisecond it has the same id
    last = (await store.append(post("again", conversation="ops")))[0].id

    assert await store.heads(first) == {"ops": Head(last, last)}
    assert await store.heads(last) == {}


async def test_a_repeated_post_does_not_move_the_head_of_people(store: ChatStore) -> None:
    once = Post(DEFAULT_CONVERSATION, "user", "human", (Draft("q", client_id="k"),))
    asked = (await store.append(once))[0].id
    answered = (await store.append(post("a", author="assistant")))[0].id

    await store.append(once)

    assert await store.heads() == {DEFAULT_CONVERSATION: Head(answered, asked)}


async def test_unread_counts_what_others_wrote_after_a_cursor(store: ChatStore) -> None:
    first = (await store.append(post("1")))[0].id
    await store.append(post("2"))
    await store.append(post("3", author="assistant"))

    assert await store.unread(DEFAULT_CONVERSATION, first, "agent") == 1
    assert await store.unread(DEFAULT_CONVERSATION, first, "human") == 0
    assert await store.unread("never", 0, "agent") == 0


async def test_receipts_never_move_back(store: ChatStore) -> None:
    for number in (5, 9, 7):
        await store.reached(DEFAULT_CONVERSATION, "read", number)

    assert await store.receipts(DEFAULT_CONVERSATION) == {"read": 9}


async def test_tokens_end_but_stay_listed(store: ChatStore) -> None:
    token = Token("t1", "alice", "alice", frozenset({"chat.read", "admin"}), 10)
    await store.add_token(token, b"digest")

    ended = await store.end_tokens("alice", 20)

    assert ended == 1
    assert await store.token("t1") == (Token("t1", "alice", "alice", token.scopes, 10, 20), b"digest")
    assert await store.token("t2") is None
    assert await store.tokens() == [(await store.token("t1"))[0]]  # type: ignore[index]


@pytest.mark.covers("R-NO-8", "R-ST-4")
async def test_a_commit_of_another_opener_wakes_this_one(store_url: str) -> None:
    told: list[bool] = []

    async def wait(store: ChatStore) -> None:
        told.append(await store.changed(60))

    async with open_store(store_url) as here, open_store(store_url) as there:
        await here.changed(0.05)
        with anyio.fail_after(40):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait, here)
                await anyio.wait_all_tasks_blocked()
                await there.append(post("hi"))

    assert told == [True]


@pytest.mark.covers("R-NO-8", "R-ST-4")
async def test_a_commit_before_the_first_wait_is_not_missed(store_url: str) -> None:
    async with open_store(store_url) as here, open_store(store_url) as there:
        await here.heads()
        await there.append(post("hi"))
        with anyio.fail_after(40):
            assert await here.changed(60)


@pytest.mark.covers("R-ST-7", "R-IN-5")
async def test_parallel_writers_of_several_openers_are_all_seen_by_a_paging_reader(store_url: str) -> None:
    seen: list[int] = []

    async def write(name: str) -> None:
        async with open_store(store_url) as mine:
            for n in range(150):
                await mine.append(post(f"{name} {n}", principal=name))

    async def read() -> None:
        async with open_store(store_url) as mine:
            while len(seen) < 600:
                page = await mine.since(Query(DEFAULT_CONVERSATION, after=seen[-1] if seen else 0, limit=7))
                seen.extend(message.id for message in page.messages)

    with anyio.fail_after(240):
        async with open_store(store_url), anyio.create_task_group() as tasks:
            for name in "abcd":
                tasks.start_soon(write, name)
            tasks.start_soon(read)

    assert seen == sorted(set(seen))
    async with open_store(store_url) as store:
        stored = (await store.since(Query(DEFAULT_CONVERSATION))).messages
    assert [message.id for message in stored] == seen
    for name in "abcd":
        assert [m.content for m in stored if m.content.startswith(name)] == [f"{name} {n}" for n in range(150)]


@pytest.mark.covers("R-ST-8")
@pytest.mark.parametrize("into", ["sqlite", "postgres"])
async def test_a_backup_of_either_store_is_restored_into_either(
    store: ChatStore, into: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    keys = AccessTokens(store)
    token = await keys.create("phone", ROLES["human"])
    for name in ("default", "ops"):
        batch = tuple(Draft(f"{name} \N{SNOWMAN} {n}", client_id=f"{n}") for n in range(1200))
        await store.append(Post(name, "user", "human", batch))
    await store.append(Post("ops", "assistant", "agent", (Draft("noted"),)))
    await store.reached("ops", "read", 7)
    async with anyio.create_task_group() as tasks:  # others go on posting
        tasks.start_soon(store.backup, str(tmp_path / "copy.db"))
        tasks.start_soon(store.append, Post("later", "user", "human", (Draft("x"),)))
    url = request.getfixturevalue("postgres_url")() if into == "postgres" else f"sqlite:///{tmp_path}/other.db"
    async with open_store(url) as other:
        await other.restore(str(tmp_path / "copy.db"))
        same = [await other.since(Query(name, limit=5000, max_bytes=1 << 30)) for name in ("default", "ops")]
        repeated = await other.append(Post("ops", "user", "human", (Draft("again", client_id="3"),)))
        entered = await AccessTokens(other).verify(token)
        receipts = await other.receipts("ops")
        with pytest.raises(ChatError, match=r"holds 240[12] messages"):
            await other.restore(str(tmp_path / "copy.db"))

    assert same == [await store.since(Query(name, limit=5000, max_bytes=1 << 30)) for name in ("default", "ops")]
    assert repeated[0].repeated
    assert entered == await keys.verify(token) is not None
    assert receipts == {"read": 7}


@pytest.mark.covers("R-ST-8")
async def test_a_backup_replaces_no_file_and_only_backups_are_restored(store: ChatStore, tmp_path: Path) -> None:
    taken, strange = tmp_path / "taken", tmp_path / "strange"
    taken.write_text("mine")
    strange.write_text("not a database at all")

    with pytest.raises(ChatError, match="exists"):
        await store.backup(str(taken))
    for path in (strange, tmp_path / "missing"):
        with pytest.raises(ChatError, match="not a backup"):
            await store.restore(str(path))
    await store.append(Post("default", "user", "human", (Draft("still works"),)))

    assert taken.read_text() == "mine"
