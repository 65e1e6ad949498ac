/** The introduction for people who are new: an offer above the views, then a short tour of the page. */
import { button, make } from "../nlui/dom";
import "./introduction.css";

export interface Stop {
  /** What is pointed at; without it, or while it is not shown, the text stands in the middle. */
  readonly at?: string;
  readonly title: string;
  readonly text: string;
  /** Shows what the stop is about. */
  readonly before?: () => void;
}

/** Offer the tour in a line above the views; `seen` is called when it was declined. */
export function offerIntroduction(tour: () => void, seen: () => void): HTMLElement {
  const card = make(
    "aside.intro-offer",
    { "aria-label": "Introduction" },
    make("b", {}, "New here?"),
    make("span", {}, "In one minute, see where your agent’s apps appear, how to talk to it, and where you decide."),
    make(
      "div.intro-row",
      {},
      button("Show me around", () => {
        card.remove();
        tour();
      }, "intro-primary"),
      button("Not now", () => {
        card.remove();
        seen();
      }),
    ),
  );
  return card;
}

/** Walk through the stops; Escape ends, the arrow keys go back and forth. */
export function introduce(stops: readonly Stop[], ended: () => void): void {
  document.querySelector(".intro-offer")?.remove(); // it was started elsewhere, in the settings
  const before = document.activeElement;
  const hole = make("div.intro-hole", { "aria-hidden": "true" });
  const title = make("h2", { id: "intro-title" });
  const text = make("p", { "aria-live": "polite" });
  const count = make("span.intro-count");
  const back = button("Back", () => go(at - 1));
  const next = button("Next", () => (at === stops.length - 1 ? end() : go(at + 1)), "intro-primary");
  const skip = button("Skip", () => end(), "intro-skip");
  const card = make("div.intro-card", {}, count, title, text, make("div.intro-row", {}, skip, back, next));
  const dialog = make("dialog.intro", { "aria-labelledby": "intro-title" }, hole, card);
  let at = 0;

  function go(to: number): void {
    at = Math.min(Math.max(to, 0), stops.length - 1);
    const stop = stops[at];
    if (!stop) {
      return;
    }
    stop.before?.();
    title.textContent = stop.title;
    text.textContent = stop.text;
    count.textContent = `${at + 1} of ${stops.length}`;
    back.hidden = at === 0;
    skip.hidden = at === stops.length - 1;
    next.textContent = at === stops.length - 1 ? "Done" : "Next";
    point();
    next.focus();
  }

  function point(): void {
    const selector = stops[at]?.at;
    const found = selector ? [...document.querySelectorAll<HTMLElement>(selector)].find((one) => one.getClientRects().length > 0) : undefined;
    const box = found?.getBoundingClientRect();
    hole.hidden = box === undefined;
    dialog.classList.toggle("intro-plain", box === undefined);
    if (box) {
      const edge = box.width * box.height > (innerWidth * innerHeight) / 3 ? -5 : 5; // inside of what fills the page
      Object.assign(hole.style, { left: `${box.left - edge}px`, top: `${box.top - edge}px`, width: `${box.width + 2 * edge}px`, height: `${box.height + 2 * edge}px` });
    }
    place(box);
  }

  /** Put the card where it covers as little as possible of what it is about. */
  function place(box: DOMRect | undefined): void {
    const { offsetWidth: width, offsetHeight: height } = card;
    const gap = 18;
    const fit = (value: number, size: number, room: number): number => Math.min(Math.max(value, 12), Math.max(room - size - 12, 12));
    let left = (innerWidth - width) / 2;
    let top = (innerHeight - height) / 2;
    if (box && box.bottom + gap + height < innerHeight) {
      left = box.left + box.width / 2 - width / 2;
      top = box.bottom + gap;
    } else if (box && box.top - gap - height > 0) {
      left = box.left + box.width / 2 - width / 2;
      top = box.top - gap - height;
    } else if (box && box.left - gap - width > 0) {
      left = box.left - gap - width;
    } else if (box && box.right + gap + width < innerWidth) {
      left = box.right + gap;
    }
    Object.assign(card.style, { left: `${fit(left, width, innerWidth)}px`, top: `${fit(top, height, innerHeight)}px` });
  }

  function end(): void {
    dialog.close();
  }
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight" && at < stops.length - 1) {
      go(at + 1);
    } else if (event.key === "ArrowLeft") {
      go(at - 1);
    }
  });
  addEventListener("resize", point);
  dialog.addEventListener("close", () => {
    removeEventListener("resize", point);
    dialog.remove();
    ended();
    if (before instanceof HTMLElement) {
      before.focus();
    }
  });
  document.body.append(dialog);
  dialog.showModal();
  go(0);
}

/** The stops of the tour of this page; `choose` shows a view. */
export function stopsOf(choose: (id: string) => void): Stop[] {
  return [
    { title: "Welcome", text: "This page is yours alone: here you see what your agent builds, talk to it, and decide what it may do. Apps and agents cannot use it." },
    { at: ".person-app", before: () => choose("app"), title: "Your agent’s apps", text: "Ask your agent for something you can see and use. It builds a small app here while you watch, and hears what you do in it." },
    { at: "#tab-chat", before: () => choose("chat"), title: "Chat", text: "Write to your agent without leaving the app. The steps of its work appear above the conversation." },
    { at: "#tab-questions", before: () => choose("questions"), title: "Inbox", text: "Questions from your agents wait here, and calls that need your approval, with exactly what would be sent. Nothing happens before you answer." },
    { at: "#tab-console", before: () => choose("console"), title: "Console", text: "Look into the running app with Lua: read a value, call a method, try something out." },
    { at: ".person-to-apps, #tab-apps", before: () => choose("apps"), title: "All apps", text: "Every app with its requirements, tests and findings. Create one, import one from elsewhere after a review, or ask your agent to change it." },
    { at: ".person-to-settings", before: () => choose("settings"), title: "Settings", text: "Choose a theme, and what apps of this project may do. You can see this introduction again there." },
  ];
}
