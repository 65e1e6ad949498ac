/** The card of one call that needs approval: what would be sent, and the possible decisions. */
import { button, make } from "../nlui/dom";
import { arm } from "./armed";
import { type Fetch, reasonOf, sendJson } from "./client";
import { type Approval, headline, indented, json, plain, riskBadge } from "./request";

type Decision = "approve" | "approve_with_edit" | "deny_continue" | "deny_abort";
type Lasting = "session" | "always";

/** Lines of a body that is shown at once; a longer one would hide the buttons, and is unfolded on demand. */
const SHORT_BODY = 12;

const LASTING: Readonly<Record<Lasting, { readonly title: string; readonly till: string; readonly yes: string }>> = {
  session: { title: "Allow for this session", till: "Calls like this one, by this caller, run without asking until the program ends.", yes: "Allow for this session" },
  always: { title: "Always allow", till: "From now on, calls like this one run without asking, by any caller.", yes: "Always allow" },
};

export interface Card {
  readonly element: HTMLElement;
  readonly id: string;
  /** The call that it is about; null on the card of a question. */
  readonly row: Approval | null;
  readonly isChosen: () => boolean;
  /** Show or hide the checkbox for decisions about several cards at once. */
  offerChoice(yes: boolean): void;
  focus(): void;
}

export interface CardHooks {
  readonly fetch: Fetch;
  /** The decision was accepted or came too late; the list should be refreshed. */
  settled(words: string): void;
  readonly chosen: () => void;
}

export function card(row: Approval, hooks: CardHooks): Card {
  const destroys = row.risk === "destroys";
  const title = make("h2.ask-says", { id: `title-${row.id}`, tabindex: "-1" }, plain(row.says));
  const box = make("input.ask-pick", { type: "checkbox", "aria-label": `Select ${plain(row.tool)}` });
  box.hidden = true;
  box.addEventListener("change", hooks.chosen);
  const problem = make("p.ask-problem", { role: "alert" });
  const edit = editor(row);
  const reason = make("input.ask-reason", { placeholder: "Reason for denial (optional)", "aria-label": "Reason" });
  const last = lasting(row, (scope, pattern) => void decide("approve", scope, pattern));

  async function decide(decision: Decision, scope: "once" | Lasting = "once", pattern?: unknown): Promise<void> {
    problem.textContent = "";
    element.setAttribute("aria-busy", "true");
    try {
      const yes = decision === "approve";
      const edited = yes ? edit.changed() : undefined;
      const body = {
        decision: edited === undefined ? decision : "approve_with_edit",
        digest: row.digest,
        scope,
        reason: reason.value.trim() || null,
        ...(edited === undefined ? {} : { arguments: edited }),
        ...(pattern === undefined ? {} : { pattern }),
      };
      await sendJson(hooks.fetch, `/approvals/${encodeURIComponent(row.id)}/decision`, body);
      hooks.settled(`${yes ? "Approved" : "Denied"}: ${plain(row.tool)}`);
    } catch (error) {
      problem.textContent = reasonOf(error);
      hooks.settled("");
    } finally {
      element.removeAttribute("aria-busy");
    }
  }

  const once = button("Approve once", () => void decide("approve"), destroys ? "ask-quiet" : "ask-yes");
  const no = button("Deny", () => void decide("deny_continue"), destroys ? "ask-no ask-no-filled" : "ask-no");
  const stop = button("Deny and stop", () => void decide("deny_abort"), "ask-no");
  stop.title = "Deny, and stop the agent’s current turn";
  const yeses = [once, button("For this session…", () => last.toggle("session"), "ask-quiet"), button("Always…", () => last.toggle("always"), "ask-quiet")];
  const change = button("Edit arguments", () => edit.toggle(), "ask-plain");
  // For a destructive call the first button, and the only filled one, is the denial.
  const [first, second] = destroys ? [[no, stop], yeses] : [yeses, [no, stop]];
  const element = make(
    "article",
    { class: destroys ? "ask ask-destroys" : "ask", id: `approval-${row.id}`, "aria-labelledby": `title-${row.id}` },
    make("div.ask-top", {}, box, title, riskBadge(row.risk)),
    about(row),
    make("div.ask-head", {}, ...headline(row.tool, row.preview)),
    ...request(row),
    edit.element,
    problem,
    make("div.ask-answers", {}, make("div.ask-row-of", {}, ...first), make("div.ask-row-of", {}, ...second, destroys ? null : change), destroys ? make("div.ask-row-of", {}, change) : null),
    last.element,
    reason,
  );
  arm(element);
  return {
    element,
    id: row.id,
    row,
    isChosen: () => box.checked,
    offerChoice(yes) {
      box.hidden = !yes;
      box.checked &&= yes;
    },
    focus: () => title.focus(),
  };
}

function about(row: Approval): HTMLElement {
  const until = new Date(row.expires_at * 1000);
  const when = make("time", { datetime: until.toISOString(), title: until.toLocaleString() }, shortTime(until));
  const why = row.reason ? make("span.ask-why", {}, `Reason: ${plain(row.reason)}`) : null;
  return make("div.ask-who", {}, make("code", {}, plain(row.tool)), make("span.ask-dim", {}, " · denied unless you answer by ", when), why);
}

function shortTime(when: Date): string {
  const today = new Date().toDateString() === when.toDateString();
  return when.toLocaleString([], today ? { timeStyle: "short" } : { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
}

function request(row: Approval): readonly HTMLElement[] {
  const { preview } = row;
  const given = block("Arguments", json(row.arguments));
  if (!preview) {
    return [given];
  }
  const headers = Object.entries(preview.headers ?? {}).map(([name, value]) => `${name}: ${value}`);
  const more = [given, headers.length ? block("Headers", plain(headers.join("\n"))) : null, preview.curl ? block("As a curl command", plain(preview.curl)) : null];
  const whole = make("details.ask-part", {}, make("summary", {}, "Arguments, headers and curl command"), ...more);
  if (!preview.body) {
    return [whole];
  }
  const body = plain(indented(preview.body));
  const short = body.split("\n").length <= SHORT_BODY;
  return [short ? block("Body", body) : make("details.ask-part", {}, make("summary", {}, "What is sent"), block("Body", body)), whole];
}

function block(name: string, text: string): HTMLElement {
  return make("div.ask-part", {}, make("span.ask-name", {}, name), make("pre", { tabindex: "0", role: "region", "aria-label": name }, text));
}

interface Editor {
  readonly element: HTMLElement;
  toggle(): void;
  /** The edited arguments; undefined while they are unchanged. */
  changed(): unknown;
}

function editor(row: Approval): Editor {
  const before = JSON.stringify(row.arguments, null, 2);
  const field = make("textarea.ask-field", { "aria-label": "Edited arguments", spellcheck: "false", rows: String(Math.min(14, before.split("\n").length + 1)) });
  field.value = before;
  const element = make("label.ask-part", {}, make("span.ask-name", {}, "Arguments to send instead"), field);
  element.hidden = true;
  field.addEventListener("input", () => field.removeAttribute("aria-invalid"));
  return {
    element,
    toggle() {
      element.hidden = !element.hidden;
      if (!element.hidden) {
        field.focus();
      }
    },
    changed() {
      if (element.hidden || field.value === before) {
        return undefined;
      }
      return parsed(field, "The arguments");
    },
  };
}

function parsed(field: HTMLTextAreaElement, what: string): Record<string, unknown> {
  try {
    const value = JSON.parse(field.value) as unknown;
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
    throw new Error("an object in braces is required");
  } catch (error) {
    field.setAttribute("aria-invalid", "true");
    field.focus();
    throw new Error(`${what} cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

interface LastingYes {
  readonly element: HTMLElement;
  toggle(scope: Lasting): void;
}

/** The panel that shows what a lasting approval covers before it is given. */
function lasting(row: Approval, allow: (scope: Lasting, pattern: unknown) => void): LastingYes {
  const element = make("section.ask-lasting", { "aria-label": "What the approval covers" });
  element.hidden = true;
  let shown: Lasting | null = null;

  function draw(scope: Lasting): void {
    const { title, till, yes } = LASTING[scope];
    const problem = make("p.ask-problem", { role: "alert" });
    const field = make("textarea.ask-field", { "aria-label": "Arguments that the approval covers", spellcheck: "false", rows: "4" });
    field.value = JSON.stringify(row.covers, null, 2);
    const change = make("details.ask-part", {}, make("summary", {}, "Change what it covers"), make("p.ask-dim", {}, "* stands for anything, ? for one character."), field);
    const give = button(yes, () => {
      try {
        allow(scope, parsed(field, "What the approval covers"));
      } catch (error) {
        change.open = true;
        problem.textContent = reasonOf(error);
      }
    }, row.risk === "destroys" ? "ask-no" : "ask-yes");
    element.replaceChildren(
      make("h3", {}, title),
      make("p.ask-dim", {}, till),
      covered(row),
      change,
      problem,
      make("div.ask-row-of", {}, give, button("Cancel", () => toggle(scope), "ask-quiet")),
    );
    give.focus({ preventScroll: true });
    element.scrollIntoView({ block: "nearest" });
  }

  function toggle(scope: Lasting): void {
    shown = shown === scope ? null : scope;
    element.hidden = shown === null;
    if (shown) {
      draw(shown);
    }
  }
  return { element, toggle };
}

function covered(row: Approval): HTMLElement {
  const pairs = Object.entries(row.covers).flatMap(([path, pattern]) => [
    make("dt", {}, plain(path)),
    make("dd", {}, pattern === "*" ? make("em", {}, "anything") : plain(pattern)),
  ]);
  const none = pairs.length === 0 ? [make("dt", {}, "arguments"), make("dd", {}, make("em", {}, "none"))] : [];
  return make("dl.ask-covers", {}, make("dt", {}, "call"), make("dd", {}, plain(row.tool)), ...pairs, ...none);
}
