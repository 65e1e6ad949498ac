/** The history beside the app: who did what, and a slider that shows any past moment in a read-only view. */
import { notify } from "../page/notices";
import { button, make } from "../page/markup";
import "./history.css";
import { PAST, takeBack } from "./keys";
import type { HistoryRequests, Listing, Step } from "./requests";

const WHO: Record<string, string> = { agent: "Agent", timer: "Timer", reload: "New code", message: "Message", start: "Start" };
const LOOK_MS = 80;
const REFRESH_MS = 400;

let opened: Panel | null = null;

/** Open or close the panel; returns what to call when something was saved. */
export function togglePanel(requests: HistoryRequests): () => void {
  if (opened !== null) {
    opened.close();
    opened = null;
    return () => undefined;
  }
  const panel = (opened = new Panel(requests, () => (opened = null)));
  return () => panel.refreshSoon();
}

class Panel {
  private readonly root = make("aside", "ui-history");
  private readonly list = make("ol", "ui-history-steps");
  private readonly slider = make("input", "ui-history-slider");
  private readonly moment = make("p", "ui-history-moment");
  private readonly looking = make("div", "ui-history-looking");
  private readonly view = make("div", "ui-history-view");
  private readonly frame = make("iframe", "ui-history-frame");
  private listing: Listing = { first: 0, last: 0, steps: [], me: "" };
  private shown: number | null = null;
  /** Where the person has moved the slider to, until that moment is looked at. */
  private wanted: number | null = null;
  private timer = 0;
  private refreshing = 0;
  private readonly opener = document.activeElement;

  constructor(
    private readonly requests: HistoryRequests,
    private readonly closed: () => void,
  ) {
    this.build();
    document.body.append(this.view, this.root);
    document.documentElement.classList.add("ui-history-open");
    void this.refresh().then(() => this.slider.focus());
  }

  close(): void {
    clearTimeout(this.timer);
    clearTimeout(this.refreshing);
    this.view.remove();
    this.root.remove();
    document.documentElement.classList.remove("ui-history-open");
    this.closed();
    if (this.opener instanceof HTMLElement) {
      this.opener.focus();
    }
  }

  refreshSoon(): void {
    clearTimeout(this.refreshing);
    if (this.root.isConnected && this.shown === null) {
      this.refreshing = window.setTimeout(() => void this.refresh(), REFRESH_MS);
    }
  }

  private build(): void {
    this.root.setAttribute("aria-label", "History");
    const close = button("×", () => this.close(), "ui-history-close");
    close.setAttribute("aria-label", "Close the history");
    this.slider.type = "range";
    this.slider.setAttribute("aria-label", "Moment to look at");
    this.slider.addEventListener("input", () => this.lookSoon(Number(this.slider.value)));
    this.moment.setAttribute("role", "status");
    this.frame.name = PAST;
    this.frame.title = "The app at that moment";
    this.view.append(make("p", "ui-history-note", "A past moment: nothing can be changed here"), this.frame);
    this.view.hidden = true;
    this.looking.append(
      button("Return here", () => void this.go("return"), "ui-history-act ui-history-main"),
      button("Fork", () => void this.go("fork"), "ui-history-act"),
      button("Back to now", () => this.leave(), "ui-history-act"),
    );
    this.looking.hidden = true;
    const undo = button("Undo", () => void this.takeBack("undo"), "ui-history-act");
    undo.title = "Ctrl+Z";
    const redo = button("Redo", () => void this.takeBack("redo"), "ui-history-act");
    redo.title = "Ctrl+Shift+Z";
    this.root.append(
      make("header", "ui-history-head", make("h2", "", "History"), undo, redo, close),
      make("div", "ui-history-travel", this.slider, this.moment, this.looking),
      this.list,
    );
    this.root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        if (this.shown === null) {
          this.close();
        } else {
          this.leave();
        }
      }
    });
  }

  private async refresh(): Promise<void> {
    try {
      this.listing = await this.requests.ask<Listing>("list");
    } catch (error) {
      this.list.replaceChildren(make("li", "ui-history-empty", said(error)));
      return;
    }
    const { first, last } = this.listing;
    this.slider.min = String(first);
    this.slider.max = String(last);
    this.slider.disabled = first >= last;
    this.slider.value = String(this.wanted ?? this.shown ?? last);
    this.render();
  }

  private render(): void {
    const steps = this.listing.steps.map((step) => this.entry(step));
    this.fill(steps.length > 0 ? steps : [make("li", "ui-history-empty", "Nothing has happened yet.")]);
    const current = this.listing.steps.find(({ step }) => step === this.shown);
    this.moment.textContent =
      this.shown === null ? "Now" : current === undefined ? `Step ${this.shown}` : `${timeOf(current)} · ${current.label}`;
    this.slider.setAttribute("aria-valuetext", this.moment.textContent);
    this.looking.hidden = this.shown === null;
    this.view.hidden = this.shown === null;
  }

  /** Show other entries; the focus stays on its step, and the one that is looked at can be seen. */
  private fill(entries: HTMLElement[]): void {
    const focused = this.list.querySelector<HTMLElement>(":focus")?.dataset.step;
    this.list.replaceChildren(...entries);
    this.list.querySelector<HTMLElement>(`[data-step="${focused}"]`)?.focus({ preventScroll: true });
    this.list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  private entry(step: Step): HTMLElement {
    const time = make("time", "", timeOf(step));
    time.dateTime = new Date(step.at * 1000).toISOString();
    const who = make("span", "ui-history-who", `${this.whoOf(step)} · `, time);
    const look = button("", () => this.look(step.step), "ui-history-step");
    look.dataset.step = String(step.step);
    look.append(make("span", "ui-history-label", step.label), who);
    if (step.step === this.shown) {
      look.setAttribute("aria-current", "step");
    }
    const item = make("li", `ui-history-by-${step.by}${step.undone === true ? " ui-history-undone" : ""}`, look);
    if (step.undone === true) {
      look.append(make("span", "ui-history-who", "Undone"));
    }
    return item;
  }

  private whoOf(step: Step): string {
    return WHO[step.by] ?? (step.author === this.listing.me ? "You" : "Another page");
  }

  private lookSoon(step: number): void {
    clearTimeout(this.timer);
    this.wanted = step;
    this.timer = window.setTimeout(() => this.look(step), LOOK_MS);
  }

  private look(step: number): void {
    this.wanted = null;
    this.shown = step;
    this.slider.value = String(step);
    this.render();
    void this.show(step);
  }

  private async show(step: number): Promise<void> {
    try {
      const { session } = await this.requests.ask<{ session: string }>("look", { step });
      const address = `/${session}/`;
      if (this.frame.getAttribute("src") !== address) {
        this.frame.src = address;
      }
    } catch (error) {
      notify("warning", said(error));
      this.leave();
    }
  }

  private leave(): void {
    this.shown = null;
    this.slider.value = this.slider.max;
    this.render();
    this.slider.focus(); // the button that was pressed is hidden now
  }

  private async go(action: "return" | "fork"): Promise<void> {
    try {
      const answer = await this.requests.ask<{ session?: string }>(action, { step: this.shown });
      if (answer.session !== undefined) {
        window.open(`/${answer.session}/`, "_blank", "noopener");
      }
      this.leave();
      await this.refresh();
    } catch (error) {
      notify("warning", said(error));
    }
  }

  private async takeBack(action: "undo" | "redo"): Promise<void> {
    await takeBack(this.requests, action);
    await this.refresh();
  }
}

function timeOf({ at }: Step): string {
  return new Date(at * 1000).toLocaleTimeString();
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
