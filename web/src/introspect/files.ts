/** Finds the file input behind a button or a drop zone: those that people see are seldom the input itself. */

const BESIDE = 2;

/** The file input that an element is, labels or holds, else the only one in what is close around it. */
export function fileInputOf(element: Element | null): Element | null {
  const own = element?.localName === "label" ? (element as HTMLLabelElement).control ?? element : element;
  let around: Element | null = own;
  for (let steps = 0; around !== null && steps <= BESIDE && around.localName !== "body"; steps++) {
    const found = fileInputs(around);
    if (found.length > 0) {
      return found.length === 1 || steps === 0 ? found[0] ?? null : null;
    }
    const root: Node = around.getRootNode();
    around = around.parentElement ?? ("host" in root ? (root as ShadowRoot).host : null);
  }
  return null;
}

function fileInputs(element: Element): Element[] {
  const inside = [element, ...element.querySelectorAll("*"), ...(element.shadowRoot?.querySelectorAll("*") ?? [])];
  const nested = inside.slice(1).filter((one) => one.shadowRoot !== null).flatMap(fileInputs);
  return [...inside.filter((one) => one.matches("input[type=file]")), ...nested];
}
