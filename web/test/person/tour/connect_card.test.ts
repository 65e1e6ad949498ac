import { expect, test } from "vitest";
import { connectCard } from "../../../src/person/tour/connect_card";

const KNOWN = {
  url: "http://127.0.0.1:1/mcp",
  setup: "ui-mcp setup",
  token: null,
  hosts: [
    { host: "Claude Code", how: "Run this", text: "claude" },
    { host: "Codex", how: "Run this", text: "codex" },
  ],
};

test("arrow keys go through the hosts and around, and show what to copy", () => {
  const card = connectCard(KNOWN);
  document.body.replaceChildren(card);
  const seen = [card.querySelector("[role=tabpanel] code")?.textContent];
  for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft"]) {
    card.querySelector("[role=tablist]")?.dispatchEvent(new KeyboardEvent("keydown", { key }));
    seen.push(card.querySelector("[role=tabpanel] code")?.textContent);
  }
  expect(seen).toEqual(["claude", "codex", "claude", "codex"]);
});

test("a server that asks for a token says where it is", () => {
  expect(connectCard({ ...KNOWN, token: "/p/.ui-mcp" }).textContent).toContain("it is kept in /p/.ui-mcp");
});
