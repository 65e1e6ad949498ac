import { afterEach, beforeEach, expect, test, vi } from "vitest";

let queries: typeof import("../../src/introspect/queries");
let sent: unknown[];

beforeEach(async () => {
  vi.resetModules();
  queries = await import("../../src/introspect/queries");
  sent = [];
});

afterEach(() => {
  globalThis.uiMcpIntrospect = undefined;
  vi.restoreAllMocks();
});

const ask = (request: string): Promise<void> =>
  queries.answerQuery(JSON.stringify({ type: "look", data: { id: 3, prefix: "a", request } }), (frame) => void sent.push(JSON.parse(frame)));

/** Let script elements load, or fail to, without a network. */
function scripts(load: (script: HTMLScriptElement) => void): void {
  vi.spyOn(document.head, "append").mockImplementation((...nodes) => {
    load(nodes[0] as HTMLScriptElement);
  });
}

test("only queries are taken for one", () => {
  expect(['{"type":"look","data":{}}', '{"type":"update"}', "[1,2]"].map(queries.isQuery)).toEqual([true, false, false]);
});

test("the script is loaded once and answers", async () => {
  let loads = 0;
  scripts((script) => {
    loads += 1;
    globalThis.uiMcpIntrospect = { create: (prefix) => ({ call: (request) => Promise.resolve(`${prefix}:${request}`), fileInput: () => null, uidOf: () => "" }) };
    script.onload?.(new Event("load"));
  });
  await ask("one");
  await ask("two");
  expect([sent, loads]).toEqual([[{ type: "looked", data: { id: 3, answer: "a:one" } }, { type: "looked", data: { id: 3, answer: "a:two" } }], 1]);
});

test("a script that cannot be loaded is an error of the page", async () => {
  scripts((script) => void script.onerror?.(new Event("error")));
  await ask("one");
  expect(JSON.stringify(sent)).toContain("MCP_UI_INTERNAL");
});
