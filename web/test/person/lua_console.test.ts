import { beforeEach, expect, test } from "vitest";
import type { Fetch } from "../../src/person/client";
import { type LuaConsole, luaConsole } from "../../src/person/lua_console";

let answer: () => Promise<Response>;
let sent: string[];
let view: LuaConsole;
const fetch: Fetch = (_, options) => {
  sent.push((JSON.parse(options?.body as string) as { code: string }).code);
  return answer();
};
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
const input = (): HTMLTextAreaElement => view.element.querySelector("textarea") as HTMLTextAreaElement;
const key = (name: string, more: KeyboardEventInit = {}): void => void input().dispatchEvent(new KeyboardEvent("keydown", { key: name, ...more }));
const json = (value: unknown) => () => Promise.resolve(new Response(JSON.stringify(value)));

async function run(code: string): Promise<string | null | undefined> {
  input().value = code;
  key("Enter");
  await settled();
  return [...view.element.querySelectorAll(".lua-entry")].at(-1)?.textContent;
}

beforeEach(() => {
  sessionStorage.clear();
  sent = [];
  view = luaConsole(fetch, "http://127.0.0.1/variables");
  document.body.replaceChildren(view.element);
});

test("values, prints and errors are shown", async () => {
  answer = json({ values: ['"x"'], printed: ["hello"], error: null });
  const first = await run("f()");
  answer = json({ values: [], printed: [], error: { message: "console:1: no", traceback: "\tin main" } });
  const second = await run("g()");
  answer = json({ values: [], printed: [], error: null });
  const third = await run("x = 1");
  answer = () => Promise.reject(new Error("offline"));
  expect([first, second, third, await run("h()")]).toEqual(['f()hello"x"', "g()console:1: noTracebackin main", "x = 1Done; no value.", "h()offline"]);
});

test("a long table is indented, other long texts are not", async () => {
  const long = "a".repeat(60);
  answer = json({ values: [JSON.stringify({ long }), `{${long}`], printed: [], error: null });
  expect(await run("t")).toBe(`t${JSON.stringify({ long }, null, 2)}{${long}`);
});

test("Shift+Enter and an empty line run nothing", async () => {
  answer = json({ values: [], printed: [], error: null });
  input().value = "x";
  key("Enter", { shiftKey: true });
  await run("  ");
  expect(sent).toEqual([]);
});

test("what was run comes back by arrow keys and by click", async () => {
  answer = json({ values: [], printed: [], error: null });
  await run("one");
  await run("two");
  key("ArrowUp");
  key("ArrowUp");
  const older = input().value;
  key("ArrowDown");
  key("ArrowDown");
  const empty = input().value;
  view.element.querySelector<HTMLElement>(".lua-code")?.click();
  expect([older, empty, input().value]).toEqual(["one", "", "one"]);
});
