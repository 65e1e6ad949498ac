/** The tour: follows the scripted agent of the server, and gives the person the word when it is theirs. */
import { button, make } from "../../nlui/dom";
import { type Fetch, readJson, sendJson } from "../client";
import { pauseAfter } from "../questions";
import { connectCard, type Connections } from "./connect_card";
import { type Entry, feedView } from "./feed_view";
import "./tour.css";

interface Feed {
  readonly version: number;
  readonly run: number;
  readonly state: "ready" | "running" | "done" | "skipped" | "failed";
  readonly step: number;
  readonly steps: readonly string[];
  readonly turn: "agent" | "app" | "point" | "approval";
  readonly error: string;
  readonly entries: readonly Entry[];
}

export interface TourPlaces {
  /** Show the tour itself. */
  tour(): void;
  /** Show the questions, where an approval waits. */
  questions(): void;
}

export interface Tour {
  readonly element: HTMLElement;
  /** Begin, unless this server has shown the tour before. */
  begin(): void;
  stop(): void;
}

const TURNS = { agent: "", app: "Your turn: choose in the app", point: "Your turn: point at the title", approval: "Your turn: decide in the Inbox" } as const;

export function tour(fetch: Fetch, places: TourPlaces): Tour {
  const steps = make("ol.tour-steps", { "aria-label": "Steps of the tour" });
  const title = make("h2", {}, "Watch an agent work");
  const turn = make("p.tour-says", { role: "status" });
  const pass = button("Go on without", () => void act("next"), "tour-pass");
  const bar = make("div.tour-turn", {}, turn, pass);
  const feed = feedView();
  const skip = button("Skip", () => void act("skip"), "tour-skip");
  const replay = button("Play again", () => void act("start"), "tour-replay");
  const end = make("div.tour-end");
  end.hidden = true;
  const element = make("div.tour", {}, make("header.tour-head", {}, title, skip, replay, steps), feed.element, bar, end);
  let shown: Feed | null = null;
  const state = { over: false };
  let failures = 0;

  async function act(action: "begin" | "start" | "next" | "skip"): Promise<void> {
    await sendJson(fetch, "/tour", { action });
  }

  function show(now: Feed): void {
    if (shown?.run !== now.run) {
      feed.clear();
    }
    const running = now.state === "running";
    skip.hidden = !running;
    replay.hidden = running || now.state === "ready";
    steps.replaceChildren(...now.steps.map((name, at) => stepMark(name, at, now)));
    turn.textContent = running ? TURNS[now.turn] : now.error;
    bar.hidden = turn.textContent === "";
    bar.classList.toggle("tour-problem", now.error !== "");
    pass.hidden = !running || now.turn !== "point";
    feed.show(now.entries);
    if (running && shown?.turn !== now.turn && now.turn === "approval") {
      places.questions();
    } else if (running && now.turn === "agent" && (shown?.turn === "approval" || shown?.turn === "point")) {
      places.tour();
    }
    if (!running && now.state !== "ready" && end.hidden) {
      void finish();
    }
    element.classList.toggle("tour-over", !running && now.state !== "ready");
    end.hidden = running || now.state === "ready";
    shown = now;
  }

  async function finish(): Promise<void> {
    places.tour();
    const known = await readJson<Connections>(fetch, "/connect");
    end.replaceChildren(connectCard(known));
    feed.reveal(); // the card has taken some of its room
  }

  async function follow(): Promise<void> {
    for (let version = -1; !state.over; ) {
      try {
        const now = await readJson<Feed>(fetch, `/tour?after=${version}`);
        version = now.version;
        failures = 0;
        show(now);
      } catch {
        failures += 1;
        version = -1; // the server may be another one
        await new Promise((resolve) => setTimeout(resolve, pauseAfter(failures)));
      }
    }
  }

  void follow();
  return {
    element,
    begin: () => void act("begin").catch(() => undefined),
    stop() {
      state.over = true;
    },
  };
}

function stepMark(name: string, at: number, now: Feed): HTMLElement {
  const over = now.state === "done" || at < now.step;
  const mark = make("li", {}, name);
  mark.classList.toggle("tour-past", over);
  if (at === now.step && now.state === "running") {
    mark.setAttribute("aria-current", "step");
  }
  return mark;
}
