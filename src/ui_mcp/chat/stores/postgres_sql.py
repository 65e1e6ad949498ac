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
    CREATE FUNCTION chat_append(
        in_conversation text, in_author text, in_principal text,
        times bigint[], mimes text[], contents text[], client_ids text[]
    ) RETURNS TABLE (out_id bigint, out_ts bigint, repeated boolean) LANGUAGE plpgsql AS $$
    DECLARE
        newest bigint;
        fresh boolean := false;
    BEGIN
        INSERT INTO chat_conversations VALUES (in_conversation, 0, 0) ON CONFLICT DO NOTHING;
        SELECT head INTO newest FROM chat_conversations WHERE name = in_conversation FOR UPDATE;
        FOR n IN 1 .. array_length(contents, 1) LOOP
            SELECT m.id, m.ts, true INTO out_id, out_ts, repeated FROM chat_messages m
                WHERE m.conversation = in_conversation AND m.principal = in_principal AND m.client_id = client_ids[n];
            IF NOT FOUND THEN
                newest := greatest(times[n] / 1000 * 1000000, newest + 1);
                INSERT INTO chat_messages VALUES (
                    in_conversation, newest, times[n], in_author, in_principal, mimes[n], contents[n], client_ids[n],
                    octet_length(contents[n])
                );
                SELECT newest, times[n], false INTO out_id, out_ts, repeated;
                fresh := true;
            END IF;
            RETURN NEXT;
        END LOOP;
        IF fresh THEN
            UPDATE chat_conversations
                SET head = newest, user_head = CASE WHEN in_author = 'user' THEN newest ELSE user_head END
                WHERE name = in_conversation;
            PERFORM pg_notify('ui_mcp_chat', '');
        END IF;
    END $$;
    """,
)

VERSION_TABLE: LiteralString = "CREATE TABLE IF NOT EXISTS chat_schema (version integer NOT NULL)"
APPEND: LiteralString = "SELECT * FROM chat_append(%s, %s, %s, %s, %s, %s, %s)"
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
