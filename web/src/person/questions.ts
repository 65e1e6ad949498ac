/** The inbox: calls that need approval, questions of agents and hosts, proposed rules and past decisions; polls the server. */
import { button, make } from "../nlui/dom";
import { arm, armOnReturn } from "./armed";
import { type Card, card } from "./card";
import { type Fetch, readJson, reasonOf, sendJson } from "./client";
import { type Proposal, type ProposalCard, proposalCard } from "./proposal";
import { offerNotifications } from "./attention";
import { answeredQuestion, type Question, questionCard } from "./question";
import { type Approval, plain } from "./request";

const POLL_MS = 1500;
const MAX_POLL_MS = 30_000;
const ANSWERED = 20;

interface Listing {
  readonly approvals: readonly Approval[];
  readonly proposals: readonly Proposal[];
}

interface Asked {
  readonly questions: readonly Question[];
}

interface Outcome {
  readonly error?: { readonly message: string };
}

export interface Questions {
  readonly element: HTMLElement;
  /** Scroll to an approval, by default the first, and focus it; if it is not listed yet, as soon as it is. */
  focus(id?: string): void;
  /** Scroll to the question of a notification, or say that it is no longer open. */
  reveal(id: string): Promise<void>;
  /** Show a message above the list. */
  say(words: string): void;
  /** Poll now. */
  refresh(): void;
  stop(): void;
}

export interface QuestionsListener {
  /** Report how much is waiting, and a line about what is new; "" without anything new. */
  waiting(count: number, news: string): void;
  /** Report why the server does not answer and the seconds until the next attempt; `null` when it answers. */
  trouble(why: string | null, seconds: number): void;
}

/** `inbox` says whether the server has questions besides calls. */
export function questions(fetch: Fetch, watch: QuestionsListener, inbox = false): Questions {
  const said = make("p.questions-said", { role: "status" });
  const count = make("span");
  const approveAll = button("Approve selected", () => void decideMany("approve"), "ask-yes");
  const many = make("div.questions-many", {}, count, approveAll, button("Deny selected", () => void decideMany("deny_continue"), "ask-no"));
  many.hidden = true;
  const none = make(
    "div.questions-empty",
    {},
    make("strong", {}, "Nothing is waiting for you"),
    make("span", {}, inbox ? "Questions from your agents, and whatever needs your approval, appear here." : "When an agent wants to make a call that needs your approval, it appears here."),
  );
  none.hidden = true;
  const open = make("div.questions-open", { "aria-label": "Waiting for you", role: "group" });
  const rules = make("section.questions-rules", {}, make("h2", {}, "Proposed rules"));
  rules.hidden = true;
  const past = make("ul.questions-past");
  const answered = make("details.questions-answered", {}, make("summary", {}, "Answered"), past);
  answered.hidden = true;
  const element = make("div.questions", {}, said, offerNotifications(), none, many, open, rules, answered);
  const cards = new Map<string, Card>();
  const proposals = new Map<string, ProposalCard>();
  const shown = (): readonly HTMLElement[] => [...cards.values(), ...proposals.values()].map((one) => one.element);
  const endArming = armOnReturn(element, shown);
  let wanted: string | null = null;
  let turn = 0;
  let failures = 0;
  let timer = 0;
  let over = false;

  const chosen = (): readonly Card[] => [...cards.values()].filter((one) => one.isChosen());
  const selection = (): void => {
    const picked = chosen();
    many.hidden = picked.length === 0;
    const destructive = picked.some((one) => one.row?.risk === "destroys");
    approveAll.disabled = destructive;
    count.textContent = `${picked.length} selected${destructive ? "; destructive calls are approved one by one" : ""}`;
  };
  const say = (words: string): void => {
    said.textContent = words;
  };
  const settled = (words: string): void => {
    if (words) {
      say(words);
    }
    void refresh();
  };

  async function decideMany(decision: "approve" | "deny_continue"): Promise<void> {
    const decisions = chosen().flatMap(({ row }) => (row ? [{ id: row.id, digest: row.digest, decision }] : []));
    try {
      const { results } = await sendJson<{ readonly results: readonly Outcome[] }>(fetch, "/approvals/decisions", { decisions });
      const failed = results.flatMap((one) => (one.error ? [one.error.message] : []));
      settled(`${results.length - failed.length} answered${failed.length ? `; ${failed.length} not: ${failed[0]}` : ""}`);
    } catch (error) {
      settled(reasonOf(error));
    }
  }

  function showCards(calls: readonly Approval[], asked: readonly Question[]): void {
    const rows = [...calls, ...asked].sort((one, other) => one.created_at - other.created_at);
    const ids = new Set(rows.map((row) => row.id));
    const focused = [...cards.values()].find((one) => one.element.contains(document.activeElement));
    const gone = [...cards].filter(([id]) => !ids.has(id));
    for (const [id, one] of gone) {
      one.element.remove();
      cards.delete(id);
    }
    if (gone.length) {
      shown().forEach(arm); // the others moved up, perhaps under the pointer
    }
    // Existing elements stay: a button must not be replaced while it is being pressed.
    const hooks = { fetch, settled, chosen: selection };
    const fresh = rows.filter((row) => !cards.has(row.id));
    const added = fresh.map((row) => ("kind" in row ? questionCard(row, hooks) : card(row, hooks)));
    added.forEach((one) => cards.set(one.id, one));
    open.append(...added.map((one) => one.element));
    cards.forEach((one) => one.offerChoice(calls.length > 1));
    none.hidden = cards.size > 0;
    selection();
    if (focused && !cards.has(focused.id)) {
      [...cards.values()][0]?.focus();
    }
    watch.waiting(cards.size, fresh.length === 1 && fresh[0] ? newsOf(fresh[0]) : fresh.length ? `${fresh.length} new questions` : "");
    reveal();
  }

  function showProposals(offered: readonly Proposal[]): void {
    const ids = new Set(offered.map((one) => one.id));
    for (const [id, one] of proposals) {
      if (!ids.has(id)) {
        one.element.remove();
        proposals.delete(id);
      }
    }
    for (const one of offered) {
      const shown = proposals.get(one.id) ?? proposalCard(one, fetch, settled);
      if (!proposals.has(one.id)) {
        proposals.set(one.id, shown);
        rules.append(shown.element);
      }
      shown.show(one);
    }
    rules.hidden = proposals.size === 0;
  }

  async function showAnswered(mine: number): Promise<void> {
    const { approvals } = await readJson<Listing>(fetch, "/approvals?status=history");
    const { questions: asked } = inbox ? await readJson<Asked>(fetch, "/inbox?status=history") : NOTHING_ASKED;
    if (mine === turn) {
      const all = [...approvals, ...asked].sort((one, other) => settledAt(other) - settledAt(one)).slice(0, ANSWERED);
      past.replaceChildren(...all.map((row) => ("kind" in row ? answeredQuestion(row) : answeredRow(row))));
      answered.hidden = all.length === 0;
    }
  }

  function reveal(): void {
    const one = wanted === null ? undefined : cards.get(wanted);
    if (one) {
      wanted = null;
      one.element.scrollIntoView({ block: "start" });
      one.focus();
    }
  }

  async function refresh(): Promise<void> {
    const mine = ++turn;
    clearTimeout(timer);
    try {
      const { approvals, proposals: offered } = await readJson<Listing>(fetch, "/approvals");
      const { questions: asked } = inbox ? await readJson<Asked>(fetch, "/inbox") : NOTHING_ASKED;
      if (mine !== turn || over) {
        return; // a later request has newer data
      }
      failures = 0;
      watch.trouble(null, 0);
      showCards(approvals, asked);
      showProposals(offered);
      await showAnswered(mine);
    } catch (error) {
      failures += 1;
      if (mine === turn && !over) {
        watch.trouble(reasonOf(error), Math.round(pauseAfter(failures) / 1000));
      }
    }
    if (mine === turn && !over) {
      timer = window.setTimeout(() => void refresh(), pauseAfter(failures));
    }
  }

  void refresh();
  return {
    element,
    focus(id) {
      wanted = id ?? [...cards.keys()][0] ?? null;
      reveal();
    },
    async reveal(id) {
      wanted = id;
      await refresh();
      if (wanted === id) {
        wanted = null;
        say("This question is no longer open: it was answered, or its time is over.");
      }
    },
    say,
    refresh: () => void refresh(),
    stop() {
      over = true;
      clearTimeout(timer);
      endArming();
    },
  };
}

const NOTHING_ASKED: Asked = { questions: [] };

function settledAt(row: Approval | Question): number {
  return row.decided_at ?? row.created_at;
}

/** Who wants something, without the words: others may read a notification. */
function newsOf(row: Approval | Question): string {
  if (!("kind" in row)) {
    return "A call is waiting for your answer";
  }
  return row.kind === "permission" ? `${plain(row.agent)} asks for your permission` : `${plain(row.agent)} has a question`;
}

/** Milliseconds until the next poll, doubled with each failure. */
export function pauseAfter(failures: number): number {
  return Math.min(POLL_MS * 2 ** failures, MAX_POLL_MS);
}

function answeredRow(row: Approval): HTMLElement {
  const when = new Date((row.decided_at ?? row.created_at) * 1000);
  const good = row.status === "approved";
  const done = row.execution.state === "none" ? "" : ` · ${row.execution.state}`;
  const by = row.decided_by ? ` by ${plain(row.decided_by)}` : "";
  return make(
    "li",
    {},
    make("code", {}, plain(row.tool)),
    make("span", { class: good ? "questions-good" : "questions-bad" }, `${row.status}${by}`),
    make("span.ask-dim", {}, `${when.toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}${done}`),
    row.answer_reason ? make("span.ask-dim", {}, `“${plain(row.answer_reason)}”`) : null,
  );
}
