/** A call that needs approval, for tests. */
import type { Approval } from "../../src/person/request";

export const approval = (more: Partial<Approval> = {}): Approval => ({
  id: "a1",
  tool: "shop__ship",
  says: "Helper wants to ship order 1 in shop",
  arguments: { id: 1 },
  digest: "d1",
  principal: "local",
  agent: "helper",
  risk: "writes",
  reason: "",
  preview: null,
  covers: { id: "1" },
  created_at: 1_700_000_000,
  expires_at: 1_700_000_600,
  status: "pending",
  decided_by: null,
  decided_at: null,
  answer_reason: null,
  scope: null,
  execution: { state: "none" },
  ...more,
});

/** Find a button by its text. */
export function buttonIn(root: ParentNode, text: string): HTMLButtonElement {
  const found = [...root.querySelectorAll("button")].find((one) => one.textContent === text);
  if (!found) throw new Error(`There is no button "${text}"`);
  return found;
}
