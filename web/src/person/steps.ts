/** What the agent has announced: the steps of its work above the chat, and the progress of apps for their list. */
import { button, make } from "../nlui/dom";
import type { Progress } from "./apps/api";
import { type Fetch, readJson } from "./client";

export interface Steps {
  readonly element: HTMLElement;
  stop(): void;
}

const PAUSE_MS = 300;
const RETRY_MS = 5000;
const MARKS: Readonly<Record<string, string>> = { completed: "✓", in_progress: "▸" };
const WORDS: Readonly<Record<string, string>> = { completed: "Done", in_progress: "Now" };

export function steps(fetch: Fetch, changed: (progress: Progress) => void): Steps {
  const title = make("span.steps-title", { role: "status" });
  const list = make("ol.steps-list");
  const bar = make("progress.steps-bar", { "aria-label": "Steps done" });
  const fold = make("details.steps", {}, make("summary", {}, title, bar), list);
  fold.open = true;
  const dismiss = button("×", () => {
    dismissed = drawn;
    element.hidden = true;
  }, "steps-dismiss");
  dismiss.setAttribute("aria-label", "Hide the steps");
  const element = make("section.steps-box", { "aria-label": "What the agent is doing" }, fold, dismiss);
  element.hidden = true;
  let version = -1;
  let drawn = "";
  let dismissed = "";
  let over = false;
  let timer = 0;

  function draw({ todos }: Progress): void {
    drawn = JSON.stringify(todos);
    element.hidden = todos.length === 0 || drawn === dismissed;
    const done = todos.filter((step) => step.status === "completed").length;
    const now = todos.find((step) => step.status === "in_progress");
    title.textContent = now ? `${now.active || now.content} · ${done} of ${todos.length}` : `${done} of ${todos.length} steps done`;
    bar.max = Math.max(todos.length, 1);
    bar.value = done;
    list.replaceChildren(
      ...todos.map((step) =>
        make("li", { "data-status": step.status }, make("span", { role: "img", "aria-label": WORDS[step.status] ?? "To do" }, MARKS[step.status] ?? "·"), make("span", {}, step.status === "in_progress" && step.active ? step.active : step.content)),
      ),
    );
  }

  async function follow(): Promise<void> {
    try {
      const progress = await readJson<Progress>(fetch, `/progress?after=${Math.max(version, 0)}`);
      if (over) {
        return;
      }
      if (progress.version !== version) {
        version = progress.version;
        draw(progress);
        changed(progress);
      }
      timer = window.setTimeout(() => void follow(), PAUSE_MS);
    } catch {
      timer = window.setTimeout(() => void follow(), RETRY_MS); // the page reports connection problems elsewhere
    }
  }
  void follow();
  return {
    element,
    stop() {
      over = true;
      clearTimeout(timer);
    },
  };
}
