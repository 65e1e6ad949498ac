/** What the agent is doing, with buttons to stop it and to let it go on where the page may ask for that. */
import { element } from "./inline";

export type AgentRequest = "abort" | "resume";

export interface RunBar {
  readonly element: HTMLElement;
  /** Show a state; `waiting` says in words why it takes longer. */
  show(run: string, waiting?: string): void;
}

const TEXT: Readonly<Record<string, string>> = {
  running: "Working…",
  awaiting_approval: "Waiting for your answer",
  aborted: "Stopped",
  error: "Ended with an error",
};
const OFFERED: Readonly<Record<string, readonly [string, AgentRequest]>> = {
  running: ["Stop", "abort"],
  awaiting_approval: ["Stop", "abort"],
  aborted: ["Continue", "resume"],
  error: ["Try again", "resume"],
};

/** `ask` reaches the agent, wherever it runs; without it the bar only tells. */
export function runBar(ask: ((request: AgentRequest) => Promise<unknown>) | undefined, problem: (error: unknown) => void): RunBar {
  const text = element("span");
  text.setAttribute("role", "status");
  const button = element("button");
  button.type = "button";
  const bar = element("div", text, button);
  bar.className = "chat-run";
  bar.hidden = true;
  let request: AgentRequest = "abort";
  button.addEventListener("click", () => {
    button.disabled = true;
    ask?.(request)
      .catch(problem)
      .finally(() => (button.disabled = false));
  });
  return {
    element: bar,
    show(run, waiting = "") {
      const words = run === "running" && waiting ? waiting : (TEXT[run] ?? "");
      const [label, wanted] = OFFERED[run] ?? ["", "abort"];
      bar.hidden = words === "";
      bar.classList.toggle("chat-run-works", run === "running");
      text.textContent = words;
      button.textContent = label;
      button.hidden = ask === undefined || label === "";
      request = wanted;
    },
  };
}
