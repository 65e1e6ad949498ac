import { beforeEach, expect, test, vi } from "vitest";
import type { Fetch } from "../../src/person/client";
import { type Setting, type Settings, settings, type Shown } from "../../src/person/settings";

const setting = (key: string, more: Partial<Setting> = {}): Setting => ({ key, about: "`It`.", kind: "switch", choices: [], default: false, value: false, given: null, widens: false, ...more });
const SHOWN: Shown = {
  theme: "auto",
  themes: [{ name: "dusk", about: "Plum.", accent: "#fa0", dark: true }],
  version: "1",
  base_dir: "/p",
  file: "/p/config.toml",
  status: { url: "http://x" },
  sections: [
    { name: "lua.permissions", about: "rights", settings: [setting("lua.permissions.exec", { widens: true }), setting("lua.permissions.write", { kind: "list", default: ["s"], value: ["s"], widens: true })] },
    { name: "lua", about: "engine", settings: [setting("lua.hotload", { default: true, value: true, given: false }), setting("lua.max", { kind: "number", default: 5, value: 5 }), setting("lua.host", { kind: "choice", choices: ["a", "b"], default: "a", value: "a" }), setting("lua.text", { kind: "text", default: null, value: null })] },
  ],
  overridden: { "lua.max": "UI_MAX" },
  agreement: { rights: [], agreed: true, digest: "d" },
  restart: false,
  refusals: [],
};
let answer: Shown;
let sent: [string, unknown][];
let view: Settings;
const around = { theme: vi.fn(), introduce: vi.fn(), signOut: vi.fn() };
const fetch: Fetch = (path, options = {}) => {
  if (options.method) {
    sent.push([`${options.method} ${path}`, JSON.parse(options.body as string)]);
  }
  return Promise.resolve(new Response(JSON.stringify(answer)));
};
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
const press = (name: string): void => [...view.element.querySelectorAll("button")].find((one) => one.textContent === name)?.click();

async function open(shown: Partial<Shown> = {}): Promise<void> {
  answer = { ...SHOWN, ...shown };
  sent = [];
  view = settings(fetch, around);
  document.body.replaceChildren(view.element);
  view.shown(true);
  await settled();
}

function change(id: string, value: string | boolean): void {
  const field = document.getElementById(id) as HTMLInputElement;
  if (typeof value === "boolean") {
    field.checked = value;
  } else {
    field.value = value;
  }
  field.dispatchEvent(new Event("change"));
}

beforeEach(() => vi.clearAllMocks());

test("each kind of setting is saved as what it is", async () => {
  await open();
  change("set-lua-hotload", true);
  change("set-lua-max", "7");
  change("set-lua-host", "b");
  change("set-lua-text", "");
  change("set-lua-permissions-write", " s \n");
  await settled();
  expect(sent.map(([, body]) => body)).toEqual([
    { key: "lua.hotload", value: true, agree: false },
    { key: "lua.max", value: 7, agree: false },
    { key: "lua.host", value: "b", agree: false },
    { key: "lua.text", value: null, agree: false },
    { key: "lua.permissions.write", value: ["s"], agree: true },
  ]);
});

test("a wider right is saved only after the person agrees", async () => {
  await open();
  change("set-lua-permissions-exec", true);
  press("Leave it");
  await settled();
  const refused = sent.length;
  change("set-lua-permissions-exec", true);
  press("Save and agree");
  await settled();
  expect([refused, sent]).toEqual([0, [["PUT /settings/values", { key: "lua.permissions.exec", value: true, agree: true }]]]);
});

test("a value of the file can be reset, and what overrides it is named", async () => {
  await open();
  view.element.querySelector<HTMLElement>("[aria-label='Reset hotload to its default']")?.click();
  await settled();
  const notes = [...view.element.querySelectorAll(".set-notes")].map((one) => one.textContent);
  expect([sent[0]?.[1], notes]).toEqual([{ key: "lua.hotload", value: null, agree: false }, ["In effect now: on.", "Set by UI_MAX in the environment."]]);
});

test("what the project asks for is agreed to as it was shown, and withdrawn", async () => {
  const rights = [{ key: "lua.permissions.exec", value: true }];
  await open({ agreement: { rights, agreed: false, digest: "d1" }, restart: true });
  press("Agree");
  await settled();
  await open({ agreement: { rights, agreed: true, digest: "d1" } });
  press("Withdraw");
  await settled();
  expect([view.element.querySelector(".set-lines")?.textContent, sent[0]?.[0]]).toEqual(["lua.permissions.exec = true", "DELETE /settings/agreement"]);
});

test("what was refused lately can be allowed", async () => {
  await open({ refusals: [{ setting: "write", path: "x", message: "permission denied: x\nmore", line: 'write = ["s", "x"]' }, { setting: "write", path: "y", message: "", line: "write = [" }] });
  press("Allow…");
  press("Save and agree");
  await settled();
  expect(sent[0]?.[1]).toEqual({ key: "lua.permissions.write", value: ["s", "x"], agree: true });
});

test("a theme is kept on the server and used", async () => {
  await open();
  const radio = document.getElementById("theme-dusk") as HTMLInputElement;
  radio.dispatchEvent(new Event("change"));
  await settled();
  press("Show it again");
  press("Sign out here");
  expect([sent[0], around.theme.mock.calls, around.introduce.mock.calls.length, around.signOut.mock.calls.length]).toEqual([["PUT /settings/theme", { name: "dusk" }], [["dusk", true]], 1, 1]);
});
