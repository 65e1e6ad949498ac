import { beforeEach, expect, test } from "vitest";
import { emptyState } from "../../src/nlui/empty";
import { type FakeApi, fakeApi } from "./fake_api";

let api: FakeApi;
beforeEach(() => {
  api = fakeApi();
});

test("the demo offers what its script answers, and a click asks it", async () => {
  api.answers["GET /api/config/llm"] = { provider: "scripted" };
  api.answers["GET /api/targets"] = [];
  const asked: string[] = [];
  const empty = emptyState((text) => void asked.push(text));
  await empty.offer();
  empty.element.querySelectorAll("button").forEach((one) => one.click());
  expect(asked).toEqual(["Show the orders", "Ship order 1"]);
});

test("other pages offer tools that only read", async () => {
  api.answers["GET /api/config/llm"] = { provider: "openai" };
  api.answers["GET /api/targets"] = [{ name: "shop", kind: "target", tools: ["shop__delete_order", "shop__listOrders", "shop__gettysburg"] }];
  const empty = emptyState(() => undefined);
  await empty.offer();
  expect([...empty.element.querySelectorAll("button")].map((one) => one.textContent)).toEqual(["What can you do?", "List orders of shop"]);
});
