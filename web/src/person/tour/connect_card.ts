/** "Now with your own agent": what to copy into each host to connect it to this running server. */
import { button, make } from "../../nlui/dom";

export interface Connections {
  readonly url: string;
  readonly setup: string;
  /** Folder of the token that clients need; null if they need none. */
  readonly token: string | null;
  readonly hosts: readonly { readonly host: string; readonly how: string; readonly text: string }[];
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

export function connectCard(known: Connections): HTMLElement {
  const heads = known.hosts.map(({ host }, at) => make("button", { type: "button", role: "tab", id: `connect-${at}`, "aria-controls": "connect-how" }, host));
  const how = make("p.connect-how");
  const text = make("code");
  const panel = make("div.connect-panel", { id: "connect-how", role: "tabpanel", tabindex: "0" }, how, copied(text));
  const tabs = make("div.connect-hosts", { role: "tablist", "aria-label": "Hosts" }, ...heads);

  function choose(at: number): void {
    const chosen = known.hosts[at];
    heads.forEach((head, one) => {
      head.setAttribute("aria-selected", String(one === at));
      head.tabIndex = one === at ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", `connect-${at}`);
    how.textContent = `${chosen?.how ?? ""}:`;
    text.textContent = chosen?.text ?? "";
  }
  heads.forEach((head, at) => head.addEventListener("click", () => choose(at)));
  tabs.addEventListener("keydown", (event) => {
    const by = STEPS[event.key];
    if (by !== undefined) {
      const next = (heads.findIndex((head) => head.tabIndex === 0) + by + heads.length) % heads.length;
      choose(next);
      heads[next]?.focus();
    }
  });
  choose(0);
  const setup = make("code");
  setup.textContent = known.setup;
  return make(
    "section.connect-card",
    { "aria-label": "Connect your own agent" },
    make("h2", {}, "Now with your own agent"),
    make("p", {}, "Connect it to this server; what it builds appears here."),
    tabs,
    panel,
    known.token ? make("p.connect-how", {}, `This server asks for a token; it is kept in ${known.token}.`) : null,
    make("p.connect-how", {}, "In a project of yours, this finds your hosts and writes their configuration:"),
    copied(setup),
  );
}

/** A text with a button that copies it. */
function copied(text: HTMLElement): HTMLElement {
  const copy = button("Copy", () => void done(), "connect-copy");
  async function done(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text.textContent);
      copy.textContent = "Copied";
    } catch {
      getSelection()?.selectAllChildren(text); // the person can copy it by hand
    }
    setTimeout(() => (copy.textContent = "Copy"), 1500);
  }
  return make("div.connect-text", {}, text, copy);
}
