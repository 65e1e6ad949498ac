/** Shows the person where an agent works on the page that they are looking at: a pointer that moves to each target. */

const STYLE = `
  .ui-agent-cursor { position: fixed; z-index: 2147483000; left: 0; top: 0; pointer-events: none; opacity: 0; transition: transform .45s cubic-bezier(.2,.7,.2,1), opacity .3s; }
  .ui-agent-cursor[data-on] { opacity: 1; }
  .ui-agent-cursor svg { display: block; width: 22px; height: 22px; filter: drop-shadow(0 1px 2px rgb(0 0 0 / .35)); }
  .ui-agent-cursor span { position: absolute; left: 16px; top: 18px; padding: 1px 8px; border-radius: 99px; background: #5b3fd6; color: #fff; font: 600 12px/1.6 system-ui, sans-serif; white-space: nowrap; }
  .ui-agent-cursor[data-left] span { left: auto; right: 16px; }
  .ui-agent-cursor i { position: absolute; left: -12px; top: -12px; width: 28px; height: 28px; border-radius: 50%; background: #5b3fd6; opacity: 0; }
  .ui-agent-cursor[data-press] i { animation: ui-agent-press .45s ease-out; }
  @keyframes ui-agent-press { from { opacity: .45; transform: scale(.2); } to { opacity: 0; transform: scale(1.6); } }
  @media (prefers-reduced-motion: reduce) { .ui-agent-cursor { transition: none; } .ui-agent-cursor[data-press] i { animation: none; } }
  @media print { .ui-agent-cursor { display: none; } }
`;
const SHOWN_MS = 4000;
const NAME_PX = 90;
const PRESSES: ReadonlySet<string> = new Set(["click", "doubleClick", "select", "setChecked", "expand", "collapse"]);

export interface AgentCursor {
  /** Move to an element; `type` is the action. It does not wait for the movement. */
  show(element: Element, type: string): void;
}

export function agentCursor(): AgentCursor {
  let pointer: HTMLElement | null = null;
  let timer = 0;
  return {
    show(element, type) {
      const box = element.getBoundingClientRect();
      if (document.visibilityState !== "visible" || box.width === 0) {
        return;
      }
      pointer ??= made();
      const [x, y] = [box.left + Math.min(box.width / 2, 90), box.top + box.height / 2];
      pointer.style.transform = `translate(${x}px, ${y}px)`;
      pointer.toggleAttribute("data-left", x > innerWidth - NAME_PX); // its name stays visible
      pointer.dataset["on"] = "";
      delete pointer.dataset["press"];
      if (PRESSES.has(type)) {
        pointer.getBoundingClientRect(); // starts the animation again
        pointer.dataset["press"] = "";
      }
      clearTimeout(timer);
      timer = window.setTimeout(() => delete pointer?.dataset["on"], SHOWN_MS);
    },
  };
}

function made(): HTMLElement {
  const pointer = document.createElement("div");
  pointer.className = "ui-agent-cursor";
  pointer.setAttribute("aria-hidden", "true");
  pointer.innerHTML = `<style>${STYLE}</style><i></i><svg viewBox="0 0 22 22"><path d="M3 2l16 8.2-7 1.9-3.3 6.6z" fill="#5b3fd6" stroke="#fff" stroke-width="1.6" stroke-linejoin="round"/></svg><span>Agent</span>`;
  pointer.style.transform = `translate(${innerWidth / 2}px, ${innerHeight}px)`;
  document.documentElement.append(pointer); // not in the body, which apps and snapshots own
  pointer.getBoundingClientRect(); // the first movement begins here
  return pointer;
}
