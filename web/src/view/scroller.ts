/** Virtual scrolling: spacers stand for the rows outside the window, and scrolling requests another window. */
import type { Survivors } from "./view";

const GUESSED_HEIGHT = 32;

export class Scroller {
  top: HTMLElement;
  bottom: HTMLElement;
  private from = 0;
  private count = 0;
  private length = 0;
  private asked = "";
  private waiting = false;
  private height = 0;
  private readonly onScroll = (): void => {
    if (!this.waiting) {
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.look();
      });
    }
  };

  constructor(
    private list: Element,
    private readonly ask: (from: number, count: number) => void,
  ) {
    const tag = list.localName === "tbody" || list.localName === "table" ? "tr" : list.localName === "ul" || list.localName === "ol" ? "li" : "div";
    this.top = spacer(tag);
    this.bottom = spacer(tag);
  }

  settle(survivors: Survivors, list: Element): void {
    this.list = list;
    this.top = (survivors?.get(this.top) as HTMLElement | undefined) ?? this.top;
    this.bottom = (survivors?.get(this.bottom) as HTMLElement | undefined) ?? this.bottom;
    document.addEventListener("scroll", this.onScroll, { capture: true, passive: true });
    window.addEventListener("resize", this.onScroll);
    requestAnimationFrame(() => this.resize());
  }

  /** Set which rows of `length` are on the page: `count`, beginning with `from`. */
  set(from: number, count: number, length: number): void {
    this.from = from;
    this.count = count;
    this.length = length;
    this.asked = "";
    this.list.setAttribute("aria-rowcount", String(length));
    if (this.list.isConnected) {
      this.resize();
    }
  }

  release(): void {
    document.removeEventListener("scroll", this.onScroll, { capture: true });
    window.removeEventListener("resize", this.onScroll);
  }

  private resize(): void {
    const row = this.top.nextElementSibling;
    if (this.height === 0 && row !== null && row !== this.bottom) {
      this.height = pitch(row, this.bottom);
    }
    const height = this.height || GUESSED_HEIGHT;
    this.top.style.height = `${this.from * height}px`;
    this.bottom.style.height = `${Math.max(0, this.length - this.from - this.count) * height}px`;
    this.look();
  }

  private look(): void {
    if (!this.list.isConnected || this.length <= this.count) {
      return;
    }
    const height = this.height || GUESSED_HEIGHT;
    const view = visiblePart(this.list);
    const start = this.top.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor((view.top - start) / height));
    const seen = Math.ceil((view.bottom - view.top) / height) + 1;
    const count = Math.max(this.count, seen * 2);
    const from = Math.max(0, Math.min(this.length - count, first - Math.floor((count - seen) / 2)));
    const covered = first >= this.from && Math.min(first + seen, this.length) <= this.from + this.count;
    const asking = `${from} ${count}`;
    if (!covered && asking !== this.asked) {
      this.asked = asking;
      this.ask(from, count);
    }
  }
}

function spacer(tag: string): HTMLElement {
  const element = document.createElement(tag);
  element.className = "ui-window-space";
  element.setAttribute("aria-hidden", "true");
  element.style.cssText = "display:block;margin:0;padding:0;border:0;list-style:none";
  return element;
}

/** The distance from one row to the next, including gaps. */
function pitch(row: Element, end: Element): number {
  const second = row.nextElementSibling;
  const own = row.getBoundingClientRect();
  if (second === null || second === end) {
    return own.height;
  }
  return second.getBoundingClientRect().top - own.top || own.height;
}

function visiblePart(list: Element): { top: number; bottom: number } {
  let top = 0;
  let bottom = window.innerHeight;
  for (let node: Element | null = list; node !== null && node !== document.documentElement; node = node.parentElement) {
    if (/auto|scroll|hidden|clip/.test(getComputedStyle(node).overflowY)) {
      const box = node.getBoundingClientRect();
      top = Math.max(top, box.top);
      bottom = Math.min(bottom, box.bottom);
    }
  }
  return { top, bottom: Math.max(top, bottom) };
}
