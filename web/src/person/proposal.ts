/** The card of a rule that an agent proposes, with its effect on past calls. */
import { button, make } from "../nlui/dom";
import { arm } from "./armed";
import { type Fetch, reasonOf, sendJson } from "./client";
import { json, plain } from "./request";

interface Replay {
  readonly calls: number;
  readonly allow?: number;
  readonly ask?: number;
  readonly deny_continue?: number;
  readonly deny_abort?: number;
  readonly unknown?: number;
  readonly would_have_allowed_what_was_denied: readonly unknown[];
}

export interface Proposal {
  readonly id: string;
  readonly rationale: string;
  readonly principal: string;
  readonly rule: Readonly<Record<string, unknown>> & { readonly decision?: string };
  readonly replay?: Replay;
}

export interface ProposalCard {
  readonly element: HTMLElement;
  show(proposal: Proposal): void;
}

const DECISIONS: Readonly<Record<string, string>> = {
  allow: "Allow without asking",
  ask: "Ask each time",
  deny_continue: "Deny",
  deny_abort: "Deny and stop",
};

export function proposalCard(first: Proposal, fetch: Fetch, settled: (words: string) => void): ProposalCard {
  const effect = make("p.ask-dim.effect");
  const problem = make("p.ask-problem", { role: "alert" });
  const settle = async (decision: "accepted" | "refused"): Promise<void> => {
    try {
      await sendJson(fetch, `/approvals/proposals/${encodeURIComponent(first.id)}`, { decision });
      settled(`Rule ${decision}`);
    } catch (error) {
      problem.textContent = reasonOf(error);
    }
  };
  const says = DECISIONS[first.rule.decision ?? ""] ?? "Rule";
  const element = make(
    "article.ask",
    { "aria-label": "Proposed rule" },
    make("h3.ask-said", {}, says, make("span.ask-dim", {}, ` · proposed by ${plain(first.principal)}`)),
    make("p.ask-why", {}, plain(first.rationale)),
    make("pre", { tabindex: "0", role: "region", "aria-label": "Rule" }, json(first.rule)),
    effect,
    problem,
    make("div.ask-row-of", {}, button("Accept", () => void settle("accepted"), "ask-quiet"), button("Refuse", () => void settle("refused"), "ask-no")),
  );
  arm(element);
  return {
    element,
    show(proposal) {
      effect.textContent = proposal.replay ? effectOf(proposal.replay) : "";
    },
  };
}

function effectOf(replay: Replay): string {
  if (!replay.calls) {
    return "There are no past calls to test it with.";
  }
  const kinds = ["allow", "ask", "deny_continue", "deny_abort", "unknown"] as const;
  const counts = kinds.flatMap((kind) => {
    const count = replay[kind];
    return count ? [kind === "unknown" ? `is unclear about ${count}` : `would ${kind.replace("_", " and ")} ${count}`] : [];
  });
  const against = replay.would_have_allowed_what_was_denied.length;
  return `Of the last ${replay.calls} calls it ${counts.join(", ")}.${against ? ` It would allow ${against} that you denied.` : ""}`;
}
