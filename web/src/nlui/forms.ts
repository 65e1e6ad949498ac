/** Forms that mounted servers want filled in, above the composer: the same cards as in the inbox. */
import { arm, armOnReturn } from "../person/armed";
import { badge, notify } from "../person/attention";
import type { Card } from "../person/card";
import { type Fetch, readJson } from "../person/client";
import { type Question, questionCard } from "../person/question";
import { pauseAfter } from "../person/questions";
import { plain } from "../person/request";
import { make } from "./dom";
import "./forms.css";

export interface Forms {
  readonly element: HTMLElement;
  /** Whether a server waits for an answer. */
  readonly waiting: () => boolean;
  /** Ask the server now, and from then on again and again. */
  start(): void;
  stop(): void;
}

/** `changed` is called when forms have come or gone, with words for screen readers. */
export function forms(fetch: Fetch, changed: (words: string) => void): Forms {
  const element = make("section.nlui-forms", { "aria-label": "Questions of servers" });
  const cards = new Map<string, Card>();
  let timer = 0;
  let failures = 0;
  let round = 0;
  let endArming = (): void => undefined;
  element.hidden = true;

  async function refresh(): Promise<void> {
    clearTimeout(timer);
    const mine = ++round;
    const asked = await readJson<{ readonly questions: readonly Question[] }>(fetch, "/inbox").catch(() => null);
    if (mine !== round) {
      return; // stopped, or asked again meanwhile
    }
    failures = asked ? 0 : failures + 1;
    if (asked) {
      show(asked.questions);
    }
    timer = window.setTimeout(() => void refresh(), pauseAfter(failures));
  }

  function show(rows: readonly Question[]): void {
    const open = new Set(rows.map(({ id }) => id));
    const gone = [...cards].filter(([id]) => !open.has(id));
    gone.forEach(([id, card]) => {
      card.element.remove();
      cards.delete(id);
    });
    const fresh = rows.filter(({ id }) => !cards.has(id));
    fresh.forEach(add);
    if (gone.length + fresh.length > 0) {
      element.hidden = cards.size === 0;
      badge(cards.size);
      changed(fresh.map(({ title }) => plain(title)).join(". "));
    }
  }

  function add(row: Question): void {
    const card = questionCard(row, { fetch, settled: () => void refresh(), chosen: () => undefined });
    cards.set(row.id, card);
    element.append(card.element);
    arm(card.element);
    notify("A server has a question", () => card.focus());
  }

  return {
    element,
    waiting: () => cards.size > 0,
    start() {
      endArming();
      endArming = armOnReturn(element, () => [...cards.values()].map((card) => card.element));
      void refresh();
    },
    stop() {
      round += 1;
      clearTimeout(timer);
      endArming();
      show([]);
    },
  };
}
