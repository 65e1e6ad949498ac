/** Gives elements the boxes in their `box` attribute ("x y width height"), since the test environment has no layout. */
import { vi } from "vitest";

export function stubLayout(): void {
  const rectOf = (element: Element): DOMRect => {
    if (element.localName === "body" || element.localName === "html") return new DOMRect(0, 0, 1024, 768);
    const [x = 0, y = 0, width = 100, height = 20] = (element.getAttribute("box") ?? "").split(" ").filter(Boolean).map(Number);
    return new DOMRect(x, y, width, height);
  };
  vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(function (this: Element) {
    return rectOf(this);
  });
  vi.spyOn(Element.prototype, "getClientRects").mockImplementation(function (this: Element) {
    return [rectOf(this)] as unknown as DOMRectList;
  });
  Element.prototype.checkVisibility = function (this: Element) {
    return this.closest("[hidden]") === null;
  };
  Element.prototype.scrollIntoView = function (this: Element) {
    this.setAttribute("scrolled", "");
    if (this.hasAttribute("box")) this.setAttribute("box", "0 0 100 20");
  };
  document.elementFromPoint = (x, y) => {
    const hit = [...document.body.querySelectorAll("[box]")].filter((element) => {
      const box = rectOf(element);
      return !element.closest("[hidden]") && x >= box.left && x < box.right && y >= box.top && y < box.bottom;
    });
    return hit.at(-1) ?? null;
  };
}
