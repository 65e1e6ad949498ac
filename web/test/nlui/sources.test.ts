import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Source } from "../../src/nlui/api";
import { addApi, sources, type Sources } from "../../src/nlui/sources";
import { buttonIn } from "../person/approval";
import { type FakeApi, fakeApi } from "./fake_api";

const SHOP: Source = { name: "shop", kind: "target", tools: ["shop__list", "shop__ship"] };
const DOCS: Source = { name: "docs", kind: "mount", state: "failed", error: "It does not start", tools: [] };
let api: FakeApi;
let list: Sources;
let changes: number;
const boxes = (): HTMLInputElement[] => [...list.element.querySelectorAll<HTMLInputElement>("input")];

beforeEach(() => {
  api = fakeApi();
  changes = 0;
  list = sources(() => (changes += 1), (error) => {
    throw error;
  });
  document.body.replaceChildren(list.element);
});

afterEach(() => void vi.unstubAllGlobals());

describe("sources", () => {
  test("are listed with their health and error", () => {
    list.show("c1", [SHOP, DOCS], { enabled_sources: null, disabled_tools: [] });
    expect([...list.element.querySelectorAll("summary")].map((row) => row.textContent)).toEqual(["shop2 tools", "docsfailed"]);
    expect(list.element.querySelector(".nlui-problem")?.textContent).toBe("It does not start");
  });

  test("can be switched off for a conversation, and single tools too", async () => {
    list.show("c1", [SHOP, DOCS], { enabled_sources: null, disabled_tools: [] });
    boxes()[0]?.click();
    await vi.waitFor(() => expect(changes).toBe(1));
    boxes()[1]?.click();
    expect([api.sent, boxes()[1]?.disabled]).toEqual([[["PUT", "/api/conversations/c1/tools", { enabled_sources: ["docs"], disabled_tools: [] }]], true]);
    boxes()[0]?.click();
    await vi.waitFor(() => expect(changes).toBe(2));
    boxes()[1]?.click();
    await vi.waitFor(() => expect(changes).toBe(3));
    expect(api.sent.slice(1).map(([, , body]) => body)).toEqual([{ enabled_sources: null, disabled_tools: [] }, { enabled_sources: null, disabled_tools: ["shop__list"] }]);
  });

  test("that are APIs can be reloaded, and removed after a question", async () => {
    vi.stubGlobal("confirm", () => true);
    list.show("c1", [SHOP], { enabled_sources: null, disabled_tools: [] });
    buttonIn(list.element, "Reload").click();
    buttonIn(list.element, "Remove").click();
    await vi.waitFor(() => expect(changes).toBe(2));
    expect(api.sent.map(([method, path]) => [method, path])).toEqual([["POST", "/api/targets/shop/reload"], ["DELETE", "/api/targets/shop"]]);
  });

  test("that are missing are explained", () => {
    list.show("c1", [], { enabled_sources: null, disabled_tools: [] });
    expect(list.element.textContent).toContain("No APIs or servers yet.");
  });
});

describe("adding an API", () => {
  const dialog = (): HTMLDialogElement => document.querySelector("dialog") as HTMLDialogElement;
  const fields = (): HTMLInputElement[] => [...dialog().querySelectorAll("input")];
  const submit = (): void => dialog().querySelector("form")?.requestSubmit();
  const status = (): string | undefined => dialog().querySelector("[role=status]")?.textContent;

  beforeEach(() => addApi(() => (changes += 1)));
  afterEach(() => document.querySelector("dialog")?.remove());

  test("needs an address or a file", () => {
    submit();
    expect([status(), api.sent]).toEqual(["Enter an address or choose a file.", []]);
  });

  test("sends what was entered, and closes", async () => {
    api.answers["POST /api/targets"] = { name: "shop", tools: [], error: null, saved: true };
    const [url, name, token] = fields();
    if (url && name && token) [url.value, name.value, token.value] = ["https://shop.example ", "shop", "secret"];
    submit();
    await vi.waitFor(() => expect(document.querySelector("dialog")).toBeNull());
    expect([api.sent, changes]).toEqual([[["POST", "/api/targets", { base_url: "https://shop.example", name: "shop", auth: { type: "bearer", token: "secret" } }]], 1]);
  });

  test("says what is wrong with an API that was added, and why one was not", async () => {
    const [url] = fields();
    if (url) url.value = "https://shop.example";
    api.answers["POST /api/targets"] = { name: "shop", tools: [], error: "no document", saved: true };
    submit();
    await vi.waitFor(() => expect(status()).toBe("shop was added, but: no document"));
    api.answers["POST /api/targets"] = 422;
    submit();
    await vi.waitFor(() => expect(status()).toBe("Not possible"));
    buttonIn(dialog(), "Cancel").click();
  });
});
