/** On the computer: the phones from which the person may answer, how to pair another one, and how to remove one. */
import { button, make } from "../../nlui/dom";
import { type Fetch, readJson, reasonOf, sendJson } from "../client";
import "./phone.css";

export interface Phone {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly paired_at: number;
  readonly used_at: number;
  readonly push: boolean;
}

interface Listing {
  /** Where phones reach the page; null if phones are off. */
  readonly url: string | null;
  readonly devices: readonly Phone[];
}

interface Pairing {
  readonly code: string;
  readonly link: string;
  readonly qr: string;
  readonly seconds: number;
}

export interface Phones {
  readonly element: HTMLElement;
  stop(): void;
}

const POLL_MS = 2000;
const OFF =
  "Answer from your phone, and get notifications there. This is off, because it needs an HTTPS address: set phone.url in config.toml, as the guide “Answer from your phone” describes.";

/** A part of the inbox that is folded until it is wanted. */
export function phones(fetch: Fetch): Phones {
  const problem = make("p.phone-problem", { role: "alert" });
  const status = make("p.phone-status", { role: "status" });
  const about = make("p.phone-dim");
  const list = make("ul.phone-list", { "aria-label": "Paired phones" });
  const pairing = make("div.phone-pairing");
  pairing.hidden = true;
  const pair = button("Pair a phone", () => void begin(), "ask-yes");
  pair.hidden = true;
  const element = make("details.phones", {}, make("summary", {}, "Phones"), about, problem, status, list, make("div.ask-row-of", {}, pair), pairing);
  let known: ReadonlySet<string> | null = null;
  let timer = 0;
  let until = 0;
  let stopped = false;

  /** Read the list; with `again`, an error of the last reading is over when this one succeeds. */
  async function refresh(again = false): Promise<void> {
    clearTimeout(timer);
    try {
      show(await readJson<Listing>(fetch, "/phones"));
      problem.textContent = again ? "" : problem.textContent;
    } catch (error) {
      problem.textContent = reasonOf(error);
    }
    if (!pairing.hidden && !stopped) {
      if (Date.now() > until) {
        end("That code is too old now.");
      } else {
        timer = window.setTimeout(() => void refresh(true), POLL_MS);
      }
    }
  }

  function show({ url, devices }: Listing): void {
    const fresh = known ? devices.find((one) => !known?.has(one.id)) : undefined;
    known = new Set(devices.map((one) => one.id));
    about.textContent = url === null ? OFF : `Phones reach this inbox and the chat at ${url}. Settings and the console stay on this computer.`;
    pair.hidden = url === null || !pairing.hidden;
    list.replaceChildren(...devices.map(row));
    if (fresh && !pairing.hidden) {
      end(`Paired: ${fresh.name}.`);
    }
  }

  function row(one: Phone): HTMLElement {
    const day = (seconds: number): string => new Date(seconds * 1000).toLocaleDateString([], { dateStyle: "medium" });
    const details = `paired ${day(one.paired_at)} · last used ${day(one.used_at)} · notifications ${one.push ? "on" : "off"}`;
    const remove = button("Remove", () => void revoke(one), "ask-quiet");
    remove.setAttribute("aria-label", `Remove ${one.name}, paired ${day(one.paired_at)}`);
    return make("li.phone-row", {}, make("div", {}, make("strong", {}, one.name), make("p.phone-dim", {}, details)), make("div.ask-row-of", {}, remove));
  }

  async function begin(): Promise<void> {
    problem.textContent = status.textContent = "";
    try {
      const made = await sendJson<Pairing>(fetch, "/phones/pair", {});
      until = Date.now() + made.seconds * 1000;
      pairing.replaceChildren(
        make("img.phone-qr", { src: made.qr, alt: "QR code that pairs a phone", width: "220", height: "220" }),
        make("div", {}, make("p", {}, "Scan this with your phone’s camera. It works once, within ten minutes; the phone that scans it can answer for you."), make("p.phone-dim", {}, "Or type the code on the phone:"), make("code.phone-code", {}, made.code)),
        make("div.ask-row-of", {}, button("Cancel", () => end(""), "ask-quiet")),
      );
      pairing.hidden = false;
      pair.hidden = true;
      await refresh();
    } catch (error) {
      problem.textContent = reasonOf(error);
    }
  }

  function end(words: string): void {
    clearTimeout(timer);
    pairing.hidden = true;
    pairing.replaceChildren();
    pair.hidden = false;
    status.textContent = words;
  }

  async function revoke(one: Phone): Promise<void> {
    problem.textContent = "";
    try {
      show(await sendJson<Listing>(fetch, `/phones/${one.id}/revoke`, {}));
      status.textContent = `Removed: ${one.name}. It can answer nothing any more.`;
    } catch (error) {
      problem.textContent = reasonOf(error);
      await refresh();
    }
  }

  element.addEventListener("toggle", () => {
    if (element.hasAttribute("open")) {
      void refresh();
    }
  });
  function stop(): void {
    stopped = true;
    clearTimeout(timer);
  }
  return { element, stop };
}
