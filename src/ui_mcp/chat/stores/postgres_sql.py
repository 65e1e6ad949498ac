"""The statements of the PostgreSQL store."""

from typing import LiteralString

SCHEMA_LOCK = 7_155_091_642_118
CHANNEL = "ui_mcp_chat"

MIGRATIONS: tuple[LiteralString, ...] = (
    """
    CREATE TABLE chat_conversations (name text PRIMARY KEY, head bigint NOT NULL, user_head bigint NOT NULL);
    CREATE TABLE chat_messages (
        conversation text NOT NULL REFERENCES chat_conversations(name),
        id bigint NOT NULL, ts bigint NOT NULL, author text NOT NULL, principal text NOT NULL,
        mime text NOT NULL, content text NOT NULL, client_id text, size bigint NOT NULL,
        PRIMARY KEY (conversation, id)
    );
    CREATE UNIQUE INDEX chat_messages_once ON chat_messages (conversation, principal, client_id)
        WHERE client_id IS NOT NULL;
    CREATE FUNCTION chat_messages_final() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN RAISE EXCEPTION 'messages are final'; END$$;
    CREATE TRIGGER chat_messages_stay BEFORE UPDATE OR DELETE ON chat_messages
        FOR EACH ROW EXECUTE FUNCTION chat_messages_final();
    CREATE TABLE chat_receipts (
        conversation text NOT NULL, stage text NOT NULL, id bigint NOT NULL, PRIMARY KEY (conversation, stage)
    );
    CREATE TABLE chat_tokens (
        id text PRIMARY KEY, name text NOT NULL, subscriber text NOT NULL, scopes text NOT NULL,
        digest bytea NOT NULL, created bigint NOT NULL, expires bigint
    );
    CREATE TABLE chat_audit (ts bigint NOT NULL, principal text NOT NULL, action text NOT NULL, detail text NOT NULL);
    """,
)

VERSION_TABLE: LiteralString = "CREATE TABLE IF NOT EXISTS chat_schema (version integer NOT NULL)"
START: LiteralString = "INSERT INTO chat_conversations VALUES (%s, 0, 0) ON CONFLICT DO NOTHING"
LOCK: LiteralString = "SELECT head FROM chat_conversations WHERE name = %s FOR UPDATE"
MOVE: LiteralString = (
    "UPDATE chat_conversations SET head = %(head)s, "
    "user_head = CASE WHEN %(user)s THEN %(head)s ELSE user_head END WHERE name = %(name)s"
)
INSERT: LiteralString = "INSERT INTO chat_messages VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
EARLIER: LiteralString = (
    "SELECT id, ts FROM chat_messages WHERE conversation = %s AND principal = %s AND client_id = %s"
)
NOTIFY: LiteralString = "SELECT pg_notify(%s, '')"
HEAD: LiteralString = "SELECT head FROM chat_conversations WHERE name = %s"
AFTER: LiteralString = """
    SELECT id, ts, author, mime, CASE WHEN wanted THEN content ELSE '' END, client_id
    FROM (
        SELECT *, sum(CASE WHEN wanted THEN size ELSE 0 END) OVER (ORDER BY id) - size AS earlier
        FROM (
            SELECT *, author = ANY(%(authors)s) AS wanted FROM chat_messages
            WHERE conversation = %(conversation)s AND id > %(after)s ORDER BY id LIMIT %(rows)s
        ) AS looked_at
    ) AS measured
    WHERE earlier <= %(max_bytes)s ORDER BY id
"""
BEFORE: LiteralString = """
    SELECT id, ts, author, mime, content, client_id
    FROM (
        SELECT *, sum(size) OVER newest_first - size AS later, row_number() OVER newest_first AS position
        FROM (
            SELECT * FROM chat_messages WHERE conversation = %(conversation)s AND id < %(before)s
            ORDER BY id DESC LIMIT %(rows)s
        ) AS looked_at WINDOW newest_first AS (ORDER BY id DESC)
    ) AS measured
    WHERE later <= %(max_bytes)s OR position = 2 ORDER BY id DESC
"""
UNREAD: LiteralString = """
    SELECT count(*) FROM (
        SELECT 1 FROM chat_messages
        WHERE conversation = %s AND id > %s AND author = 'user' AND principal <> %s LIMIT 1000
    ) AS found
"""
REACHED: LiteralString = (
    "INSERT INTO chat_receipts VALUES (%s, %s, %s) "
    "ON CONFLICT (conversation, stage) DO UPDATE SET id = greatest(chat_receipts.id, excluded.id)"
)
END_TOKENS: LiteralString = (
    "UPDATE chat_tokens SET expires = least(coalesce(expires, %(at)s), %(at)s) "
    "WHERE name = %(name)s AND (expires IS NULL OR expires > %(now)s)"
)
