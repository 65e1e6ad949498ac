/** The card of a question: a form that an agent or server wants filled in, or a permission that a host wants. */
import { button, make } from "../nlui/dom";
import { arm } from "./armed";
import type { Card, CardHooks } from "./card";
import { reasonOf, sendJson } from "./client";
import { type FormField, formField, type ShownField } from "./question_field";
import { json, plain } from "./request";
import "./question.css";

interface Permission {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly cwd?: string;
  /** The rules that the host would keep with "Always", in its own words. */
  readonly always?: readonly string[];
  /** Whether the host can stop the agent on a denial. */
  readonly stops?: boolean;
}

export interface Question {
  readonly id: string;
  readonly kind: "form" | "permission";
  readonly source: string;
  readonly agent: string;
  readonly title: string;
  readonly body: { readonly fields?: readonly FormField[] } & Partial<Permission>;
  readonly status: string;
  readonly answer: { readonly decision?: string; readonly reason?: string | null } | null;
  readonly decided_by: string | null;
  readonly decided_at: number | null;
  readonly created_at: number;
  readonly expires_at: number;
}

type Decision = "answer" | "decline" | "allow" | "allow_always" | "deny" | "deny_stop";

const SAID: Readonly<Record<Decision, string>> = {
  answer: "Answered",
  decline: "Not answered",
  allow: "Allowed",
  allow_always: "Always allowed",
  deny: "Denied",
  deny_stop: "Denied and stopped",
};

export function questionCard(row: Question, hooks: CardHooks): Card {
  const title = make("h2.ask-says", { id: `title-${row.id}`, tabindex: "-1" }, plain(row.title));
  const problem = make("p.ask-problem", { role: "alert" });
  const fields = (row.body.fields ?? []).map((one) => formField(one, `${row.id}-${one.name}`));
  const reason = make("input.ask-reason", { placeholder: "Reason (optional)", "aria-label": "Reason" });

  async function decide(decision: Decision): Promise<void> {
    problem.textContent = "";
    element.setAttribute("aria-busy", "true");
    try {
      const values = decision === "answer" ? await valuesOf(fields) : null;
      await sendJson(hooks.fetch, `/inbox/${encodeURIComponent(row.id)}/answer`, { decision, values, reason: reason.value.trim() || null });
      hooks.settled(`${SAID[decision]}: ${plain(row.title)}`);
    } catch (error) {
      problem.textContent = reasonOf(error);
      hooks.settled("");
    } finally {
      element.removeAttribute("aria-busy");
    }
  }

  const element = make(
    "article.ask",
    { id: `approval-${row.id}`, "aria-labelledby": `title-${row.id}` },
    title,
    make("div.ask-who", {}, origin(row)),
    ...(row.kind === "form" ? [form()] : permission()),
  );

  function form(): HTMLElement {
    const send = make("button.ask-yes", { type: "submit" }, fields.length ? "Send" : "OK");
    const made = make(
      "form.ask-form",
      { novalidate: "" },
      ...fields.map((one) => one.element),
      problem,
      make("div.ask-row-of", {}, send, button("Not now", () => void decide("decline"), "ask-quiet")),
    );
    made.addEventListener("submit", (event) => {
      event.preventDefault();
      // A form is submitted by Enter too, which a disabled button does not prevent in every browser.
      if (!send.disabled) {
        void decide("answer");
      }
    });
    return made;
  }

  function permission(): readonly HTMLElement[] {
    const { always = [], stops = false } = row.body;
    const lasting = always.length ? button("Always…", () => (more.hidden = !more.hidden), "ask-quiet") : null;
    const more = make(
      "section.ask-lasting",
      { "aria-label": "What the permission covers" },
      make("p", {}, `${plain(row.agent)} will keep these rules and ask no more:`),
      make("pre", { tabindex: "0", role: "region", "aria-label": "Rules" }, plain(always.join("\n"))),
      make("div.ask-row-of", {}, button("Always allow", () => void decide("allow_always"), "ask-quiet")),
    );
    more.hidden = true;
    const stop = stops ? button("Deny and stop", () => void decide("deny_stop"), "ask-no") : null;
    const yes = make("div.ask-row-of", {}, button("Allow once", () => void decide("allow"), "ask-yes"), lasting);
    const no = make("div.ask-row-of", {}, button("Deny", () => void decide("deny"), "ask-no"), stop);
    return [details(row.body), problem, make("div.ask-answers", {}, yes, no), more, reason];
  }

  arm(element);
  return { element, id: row.id, row: null, isChosen: () => false, offerChoice: () => undefined, focus: () => title.focus() };
}

async function valuesOf(fields: readonly ShownField[]): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const one of fields) {
    values[one.name] = await one.value();
  }
  return values;
}

function origin(row: Question): HTMLElement {
  const until = new Date(row.expires_at * 1000);
  const when = make("time", { datetime: until.toISOString() }, until.toLocaleString([], { dateStyle: "medium", timeStyle: "short" }));
  const what = row.kind === "permission" ? "Denied unless you answer by " : "Open until ";
  return make("span.ask-dim", {}, what, when);
}

/** Everything that the host would do, whole; folded, because the title says it in short. */
function details(body: Partial<Permission>): HTMLElement {
  const where = body.cwd ? make("p.ask-dim", {}, `In ${plain(body.cwd)}`) : null;
  const all = make("pre", { tabindex: "0", role: "region", "aria-label": "Arguments" }, json(body.arguments ?? {}));
  return make("details.ask-part", {}, make("summary", {}, `Details of ${plain(body.tool ?? "")}`), where, all);
}

/** What the list of the past says about a question. */
export function answeredQuestion(row: Question): HTMLElement {
  const when = new Date((row.decided_at ?? row.created_at) * 1000);
  const decision = SAID[row.answer?.decision as Decision] as string | undefined;
  const good = row.status === "answered";
  return make(
    "li",
    {},
    make("span.questions-title", {}, plain(row.title)),
    make("span", { class: good ? "questions-good" : "questions-bad" }, (decision ?? row.status).toLowerCase()),
    make("span.ask-dim", {}, when.toLocaleString([], { dateStyle: "medium", timeStyle: "short" })),
    row.answer?.reason ? make("span.ask-dim", {}, `“${plain(row.answer.reason)}”`) : null,
  );
}
