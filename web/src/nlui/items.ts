/** One element per item of the timeline. */
import { markdown } from "../chat/markdown";
import { button, make } from "./dom";
import { resultView } from "./result";
import type { Item } from "./state";

export interface Acts {
  edit(item: Item): void;
  again(item: Item): void;
  decide(item: Item, reply: Readonly<Record<string, unknown>>): void;
}

const WORDS: Readonly<Record<string, string>> = {
  running: "running…",
  pending: "waits for an answer",
  done: "done",
  error: "failed",
  denied: "not allowed",
  aborted: "interrupted",
};

/** Render an item as it stands. */
export function itemView(item: Item, acts: Acts): HTMLElement {
  const made = drawn(item, acts);
  made.dataset["item"] = item.id;
  return made;
}

function drawn(item: Item, acts: Acts): HTMLElement {
  switch (item.kind) {
    case "user_message":
      return make(
        "article.nlui-item.nlui-user",
        { "aria-label": "You" },
        make("div.nlui-bubble", {}, markdown(item.text ?? "")),
        make("div.nlui-acts", {}, button("Edit", () => acts.edit(item), "nlui-small"), button("Ask again", () => acts.again(item), "nlui-small")),
      );
    case "assistant_markdown":
      return make("article.nlui-item.nlui-assistant", { "aria-label": "Assistant" }, make("div.nlui-bubble", {}, markdown(item.md ?? "")));
    case "tool":
      return tool(item);
    case "approval":
      return approval(item, acts);
    default:
      return make("p.nlui-item.nlui-notice", { role: "status" }, item.text ?? "");
  }
}

function tool(item: Item): HTMLElement {
  const status = item.status ?? "running";
  const summary = make("summary", {}, make("code", {}, item.name ?? ""), make("span", { class: `nlui-status nlui-${status}` }, WORDS[status] ?? status));
  const details = make("details.nlui-item.nlui-tool", {}, summary, make("pre.nlui-args", { tabindex: "0" }, JSON.stringify(item.args ?? {}, null, 2)));
  if (item.content) {
    details.append(resultView(item.content.result));
    details.open = !item.content.is_error;
  }
  return details;
}

function decided(item: Item): HTMLElement {
  const who = item.decided_by ? ` by ${item.decided_by}` : "";
  const said = `${item.status ?? ""}${who}${item.reason ? `: ${item.reason}` : ""}`;
  return make(
    "details.nlui-item.nlui-tool",
    {},
    make("summary", {}, "Asked about ", make("code", {}, item.tool ?? ""), make("span.nlui-status", {}, said)),
    make("pre.nlui-args", { tabindex: "0" }, JSON.stringify(item.args ?? {}, null, 2)),
  );
}

function approval(item: Item, acts: Acts): HTMLElement {
  if (item.status !== "pending") {
    return decided(item);
  }
  const title = make("h3", {}, "May I call ", make("code", {}, item.tool ?? ""), "?");
  const args = make("textarea.nlui-args", { rows: "5", "aria-label": "Arguments", spellcheck: "false" });
  args.value = JSON.stringify(item.args ?? {}, null, 2);
  const before = args.value;
  const card = make("section.nlui-item.nlui-approval", { "aria-label": "Approval" }, title, args);
  if (item.request) {
    card.append(make("details", {}, make("summary", {}, "The request"), make("pre.nlui-raw", { tabindex: "0" }, JSON.stringify(item.request, null, 2))));
  }
  const problem = make("p.nlui-problem", { role: "alert" });
  const yes = (scope: string): void => {
    const reply: Record<string, unknown> = { approval_id: item.approval_id, digest: item.digest, approved: true, scope };
    if (args.value !== before) {
      try {
        reply["arguments"] = JSON.parse(args.value);
      } catch {
        problem.textContent = "The arguments are not JSON.";
        return;
      }
    }
    acts.decide(item, reply);
  };
  const no = (): void => acts.decide(item, { approval_id: item.approval_id, digest: item.digest, approved: false });
  card.append(
    make("div.nlui-row", {}, button("Allow once", () => yes("once"), "nlui-primary"), button("For this session", () => yes("session")), button("Always", () => yes("always")), button("Deny", no, "nlui-danger")),
    problem,
  );
  return card;
}
