/** One element per item of the timeline. */
import { headline, json, plain, previewOf, riskBadge } from "../person/request";
import { button, make } from "./dom";
import { resultView } from "./result";
import { richMarkdown } from "./fenced_blocks";
import { fileViews, type LoadFile, parted } from "./attached";
import { endText, type Item, usageText } from "./state";
import { person, sourceOf, toolTitle } from "./tool_names";

/** Actions on items; null where the page does not offer one. */
export interface ItemActions {
  /** Replace the text of a message; resolves when the server has accepted it. */
  readonly edit: ((item: Item, text: string) => Promise<void>) | null;
  readonly again: ((item: Item) => void) | null;
  /** Show another version of a message, with what followed it. */
  readonly version?: (id: string) => void;
  /** Let the model continue an answer that was cut off. */
  readonly resume: (() => void) | null;
  readonly decide: ((item: Item, reply: Readonly<Record<string, unknown>>) => void) | null;
  /** Open the card of an approval. */
  readonly review: ((item: Item) => void) | null;
  /** Open the app that shows a call's result; null if it has none. */
  readonly app?: (item: Item) => (() => void) | null;
  /** Load a file of a message. */
  readonly load?: LoadFile;
}

export interface ItemView {
  readonly element: HTMLElement;
  /** The accessible name. */
  readonly label: string;
}

const STATUS_TEXT: Readonly<Record<string, string>> = {
  running: "running…",
  pending: "waiting for your answer",
  done: "done",
  error: "failed",
  denied: "not allowed",
  aborted: "interrupted",
};
const PARTIAL_TEXT: Readonly<Record<string, string>> = { stopped: "Stopped", broken: "Broken off" };
const SCOPES: readonly (readonly [string, string])[] = [
  ["Approve once", "once"],
  ["For this session", "session"],
  ["Always", "always"],
];

/** How long a button says that it has copied. */
const COPIED_MS = 1_500;

/** Longer arguments scroll. */
const MOST_ROWS = 20;

export function itemView(item: Item, actions: ItemActions): ItemView {
  switch (item.kind) {
    case "user_message":
      return { element: userMessage(item, actions), label: "You" };
    case "assistant_markdown":
      return { element: answer(item, actions), label: item.partial ? `Assistant, ${PARTIAL_TEXT[item.partial] ?? ""}` : "Assistant" };
    case "tool":
      return { element: tool(item, actions), label: `Tool ${toolTitle(item.name ?? "")}, ${STATUS_TEXT[item.status ?? ""] ?? ""}` };
    case "approval":
      return { element: item.status === "pending" ? pending(item, actions) : decided(item), label: `Approval of ${toolTitle(item.tool ?? "")}` };
    case "sampling":
      return { element: sampling(item), label: item.reasoning ? "Reasoning" : "Tokens" };
    case "end_turn":
      return { element: make("p.nlui-item.nlui-notice", {}, endText(item)), label: "End of turn" };
    default:
      return { element: notice(item), label: item.level === "error" ? "Error" : "Notice" };
  }
}

function answer(item: Item, { resume }: ItemActions): HTMLElement {
  const whole = make("div.nlui-item", {}, make("div.nlui-bubble.chat-body", {}, richMarkdown(item.md ?? "")));
  const acts = [
    ...(item.partial ? [make("span.nlui-dim", {}, PARTIAL_TEXT[item.partial] ?? "")] : []),
    copyButton(() => item.md ?? ""),
    ...(item.partial && resume ? [button("Continue", resume, "nlui-small")] : []),
  ];
  whole.append(make(item.partial ? "div.nlui-acts.nlui-cut-off" : "div.nlui-acts", {}, ...acts));
  return whole;
}

/** What an answer took and, folded, what the model thought before it. */
function sampling(item: Item): HTMLElement {
  const took = item.usage ? usageText(item.usage) : "";
  const model = item.usage?.model ? { title: item.usage.model } : {};
  if (!item.reasoning) {
    return make("p.nlui-item.nlui-tokens", model, took);
  }
  return make(
    "details.nlui-item.nlui-reasoning",
    {},
    make("summary", {}, "Reasoning", took ? make("span.nlui-tokens", model, took) : null),
    make("div.chat-body", { tabindex: "0", role: "group", "aria-label": "Reasoning" }, richMarkdown(item.reasoning)),
  );
}

function notice(item: Item): HTMLElement {
  const level = { info: "", error: ".nlui-failed" }[item.level ?? ""] ?? ".nlui-warning";
  return make(`p.nlui-item.nlui-notice${level}`, item.level === "error" ? { role: "alert" } : {}, item.text ?? "");
}

function copyButton(text: () => string): HTMLElement {
  const copy = button("Copy", () => {
    void navigator.clipboard.writeText(text()).then(() => (copy.textContent = "Copied"), () => (copy.textContent = "Not allowed"));
    setTimeout(() => (copy.textContent = "Copy"), COPIED_MS);
  }, "nlui-small");
  return copy;
}

function userMessage(item: Item, actions: ItemActions): HTMLElement {
  const { text, files } = parted(item.text ?? "");
  const bubble = make("div.nlui-bubble.chat-body", {}, richMarkdown(text), files.length > 0 ? fileViews(files, actions.load) : null);
  const row = make("div.nlui-acts");
  const whole = make("div.nlui-item.nlui-user", {}, bubble, row);
  const read = (): void => {
    const { edit, again } = actions;
    row.replaceChildren(
      ...versionSwitch(item, actions.version),
      copyButton(() => text),
      ...(edit ? [button("Edit", write, "nlui-small")] : []),
      ...(again ? [button("Ask again", () => again(item), "nlui-small")] : []),
    );
    whole.replaceChildren(bubble, row);
    whole.classList.remove("nlui-editing");
  };
  const write = (): void => {
    const field = make("textarea.nlui-field", { rows: "3", "aria-label": "Edit message" });
    field.value = text;
    const send = (): void => {
      if (field.value.trim() || files.length > 0) {
        void actions.edit?.(item, field.value.trim()).catch(() => undefined);
      }
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        read();
      } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        send();
      }
    });
    row.replaceChildren(button("Cancel", read, "nlui-small"), button("Send", send, "nlui-small nlui-primary"));
    whole.replaceChildren(field, row);
    whole.classList.add("nlui-editing");
    field.focus();
  };
  read();
  return whole;
}

/** `‹ 2/3 ›`: which version of the message is shown, and buttons to the others. */
function versionSwitch({ id, versions = [] }: Item, go: ItemActions["version"]): readonly HTMLElement[] {
  if (versions.length < 2 || !go) {
    return [];
  }
  const here = versions.indexOf(id);
  const to = (words: string, name: string, at: number): HTMLButtonElement => {
    const made = button(words, () => go(versions[at] ?? id), "nlui-small");
    made.setAttribute("aria-label", name);
    made.disabled = versions[at] === undefined;
    return made;
  };
  const place = make("span.nlui-dim", {}, `${String(here + 1)}/${String(versions.length)}`);
  return [make("span.nlui-versions", { role: "group", "aria-label": "Versions" }, to("‹", "Previous version", here - 1), place, to("›", "Next version", here + 1))];
}

function args(value: unknown): HTMLElement | null {
  const text = JSON.stringify(value ?? {}, null, 2);
  return text === "{}" ? null : make("pre.nlui-args", { tabindex: "0", "aria-label": "Arguments sent" }, text);
}

/** The exact tool and its arguments: folded once there is a result, which is what the person wants to see. */
function sent(name: string, given: unknown): HTMLElement {
  return make("details.nlui-fold.nlui-sent", {}, make("summary.nlui-dim", {}, "What was sent"), exactName(name), args(given));
}

function tool(item: Item, actions: ItemActions): HTMLElement {
  const status = item.status ?? "running";
  const said = make("span", { class: `nlui-status nlui-${status}` }, `${STATUS_TEXT[status] ?? status}${decision(item)}`);
  const details = make("details.nlui-item.nlui-tool", {}, make("summary", {}, ...toolName(item.name ?? ""), said));
  const open = actions.app?.(item);
  if (open) {
    details.append(make("div.nlui-row", {}, button("Open app", open, "nlui-small nlui-primary")));
  }
  if (item.content) {
    details.append(resultView(item.content.result));
    details.open = !item.content.is_error;
    details.append(sent(item.name ?? "", item.args));
  } else {
    details.append(exactName(item.name ?? ""), ...[args(item.args)].filter((one) => one !== null));
  }
  return details;
}

/** The tool in words, with the API or server it belongs to. */
function toolName(name: string): readonly HTMLElement[] {
  const source = sourceOf(name);
  return [make("strong.nlui-toolname", {}, toolTitle(name)), ...(source ? [make("span.nlui-dim", {}, source)] : [])];
}

function exactName(name: string): HTMLElement {
  return make("p.nlui-dim.nlui-exact", {}, "Tool ", make("code", {}, name));
}

/** What the person is asked; journals of older versions do not say it in words. */
function asked(item: Item): string {
  return plain(item.says ?? `The assistant wants to use ${item.tool ?? ""}`);
}

function decision(item: Item): string {
  if (!item.decided_by) {
    return "";
  }
  return `, ${item.decision ?? "decided"} by ${person(item.decided_by)}${item.reason ? `: ${item.reason}` : ""}`;
}

function decided(item: Item): HTMLElement {
  const who = item.decided_by ? ` by ${person(item.decided_by)}` : "";
  const said = `${item.status ?? ""}${who}${item.reason ? `: ${item.reason}` : ""}`;
  const status = make("span", { class: `nlui-status ${item.status === "approved" ? "nlui-done" : "nlui-denied"}` }, said);
  return make("details.nlui-item.nlui-tool", {}, make("summary", {}, ...toolName(item.tool ?? ""), status), exactName(item.tool ?? ""), args(item.args));
}

function pending(item: Item, { decide, review }: ItemActions): HTMLElement {
  if (decide) {
    return question(item, decide);
  }
  return make(
    "div",
    { class: approvalClass(item) },
    make("p.ask-who", {}, make("strong", {}, asked(item)), " ", riskBadge(item.risk ?? "")),
    make("div.ask-head", {}, ...headline(item.tool ?? "", previewOf(item.request))),
    make("p.ask-who", {}, "Waiting for your answer."),
    review ? make("div.nlui-row", {}, button("Review", () => review(item), "nlui-primary")) : null,
  );
}

function approvalClass(item: Item): string {
  return item.risk === "destroys" ? "nlui-item nlui-approval ask-destroys" : "nlui-item nlui-approval";
}

function question(item: Item, decide: NonNullable<ItemActions["decide"]>): HTMLElement {
  const field = make("textarea.nlui-args", { "aria-label": "Arguments", spellcheck: "false" });
  field.value = JSON.stringify(item.args ?? {}, null, 2);
  field.rows = Math.min(Math.max(field.value.split("\n").length, 4), MOST_ROWS);
  const before = field.value;
  const problem = make("p.nlui-problem", { role: "alert" });
  const base = { approval_id: item.approval_id, digest: item.digest };
  const yes = (scope: string): void => {
    try {
      const edited = field.value === before ? {} : { arguments: JSON.parse(field.value) as unknown };
      decide(item, { ...base, approved: true, scope, ...edited });
    } catch {
      problem.textContent = "The arguments are not JSON.";
    }
  };
  const prominent = item.risk === "destroys" ? "" : "nlui-primary";
  const buttons = SCOPES.map(([words, scope]) => button(words, () => yes(scope), scope === "once" ? prominent : ""));
  const no = button("Deny", () => decide(item, { ...base, approved: false }), "nlui-danger");
  const preview = previewOf(item.request);
  const request = item.request
    ? make("details", {}, make("summary", {}, "The request"), make("pre.nlui-raw", { tabindex: "0" }, json(item.request)))
    : null;
  return make(
    "div",
    { class: approvalClass(item) },
    make("h2", {}, asked(item), " ", riskBadge(item.risk ?? "")),
    preview ? make("div.ask-head", {}, ...headline(item.tool ?? "", preview)) : null,
    field,
    request,
    make("div.nlui-row", {}, ...buttons, no),
    problem,
  );
}
