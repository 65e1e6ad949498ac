import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { create, type Introspector } from "../../src/introspect/main";
import { element } from "../view/open_app";
import { stubLayout } from "./layout";

let page: Introspector;

interface Answer {
  readonly error?: { readonly code: string; readonly details: { readonly reason?: string } };
  readonly [field: string]: unknown;
}

const call = async (request: object): Promise<Answer> => JSON.parse(await page.call(JSON.stringify(request))) as Answer;
const act = (action: object): Promise<Answer> => call({ op: "act", action });
const pathOf = (tag: string, nth = 0): string => `/stages[0]/scene/root/${tag}[${nth}]`;
const on = (tag: string, nth = 0): { readonly target: { readonly path: string } } => ({ target: { path: pathOf(tag, nth) } });
const reasonOf = async (answer: Promise<Answer>): Promise<string | undefined> => (await answer).error?.details.reason;

beforeEach(() => {
  stubLayout();
  page = create("p");
});

afterEach(() => void vi.restoreAllMocks());

function show(html: string): void {
  document.body.innerHTML = html;
}

const field = (): HTMLInputElement => element("input", HTMLInputElement);

describe("an action", () => {
  test("sets text with the events that frameworks listen for", async () => {
    show("<input box='0 0 100 20'>");
    const events: string[] = [];
    for (const type of ["input", "change"]) field().addEventListener(type, () => void events.push(type));
    expect(await act({ type: "setText", text: "Ann", ...on("input") })).toEqual({});
    expect([field().value, events, document.activeElement === field()]).toEqual(["Ann", ["input", "change"], true]);
  });

  test("types at the caret", async () => {
    show("<input value='Ann'>");
    field().focus();
    field().setSelectionRange(0, 1);
    await act({ type: "typeText", text: "Joh" });
    expect(field().value).toBe("Johnn");
  });

  test("clicks with the events of a mouse, twice for a double click", async () => {
    show("<button box='0 0 100 20'>Go</button>");
    const events: string[] = [];
    for (const type of ["pointerdown", "mouseup", "click", "dblclick"]) element("button").addEventListener(type, () => void events.push(type));
    await act({ type: "doubleClick", ...on("button") });
    expect(events).toEqual(["pointerdown", "mouseup", "click", "pointerdown", "mouseup", "click", "dblclick"]);
  });

  test("at a point hits what is there", async () => {
    show("<button box='0 0 100 20'>Go</button>");
    let clicks = 0;
    element("button").addEventListener("click", () => (clicks += 1));
    await act({ type: "click", x: 5, y: 5 });
    expect([clicks, await reasonOf(act({ type: "click", x: 500, y: 5 }))]).toEqual([1, "OFFSCREEN"]);
  });

  test("hovers", async () => {
    show("<button box='0 0 100 20'>Go</button>");
    let over = 0;
    element("button").addEventListener("mouseover", () => (over += 1));
    await act({ type: "hover", ...on("button") });
    expect(over).toBe(1);
  });

  test("chooses an option by value, text or index", async () => {
    show("<select box='0 0 100 20'><option value=a>One</option><option value=b>Two</option><option>Three</option></select>");
    const chosen: string[] = [];
    for (const choice of [{ value: "b" }, { value: "One" }, { index: 2 }]) {
      await act({ type: "select", ...on("select"), ...choice });
      chosen.push(element("select", HTMLSelectElement).value);
    }
    expect([chosen, await reasonOf(act({ type: "select", value: "x", ...on("select") }))]).toEqual([["b", "a", "Three"], "OUT_OF_RANGE"]);
  });

  test("on a toggle names what has to be clicked, if anything", async () => {
    show("<input type=checkbox checked box='0 0 100 20'><details box='0 0 100 20'><summary>more</summary></details><div aria-expanded=false box='0 0 100 20'></div>");
    expect(await act({ type: "setChecked", checked: true, ...on("input") })).toEqual({});
    expect(await act({ type: "setChecked", checked: false, ...on("input") })).toEqual({ click: expect.stringMatching(/^p\d+$/) as string });
    expect(await act({ type: "expand", ...on("details") })).toHaveProperty("click");
    expect(await act({ type: "collapse", ...on("div") })).toEqual({});
    expect(await reasonOf(act({ type: "expand", ...on("input") }))).toBe("UNSUPPORTED_TARGET_TYPE");
  });

  test("scrolls to a row", async () => {
    show("<div role=listbox><p role=option>a</p><p role=option>b</p></div>");
    await act({ type: "scroll", toIndex: 1, ...on("div") });
    expect([...document.querySelectorAll("p")].map((row) => row.hasAttribute("scrolled"))).toEqual([false, true]);
    expect(await reasonOf(act({ type: "scroll", toIndex: 7, ...on("div") }))).toBe("OUT_OF_RANGE");
  });

  test("presses keys", async () => {
    show("<input box='0 0 100 20'>");
    const keys: string[] = [];
    field().addEventListener("keydown", ({ key }) => void keys.push(key));
    field().focus();
    await act({ type: "pressKey", key: "ESCAPE" });
    expect(keys).toEqual(["Escape"]);
  });
});

describe("an action is refused", () => {
  test.each([
    ["DISABLED", "<fieldset inert><input box='0 0 100 20'></fieldset>", { type: "focus", target: { path: "/stages[0]/scene/root/fieldset[0]/input[0]" } }],
    ["NOT_VISIBLE", "<input hidden box='0 0 100 20'>", { type: "focus", ...on("input") }],
    ["ZERO_SIZE", "<input box='0 0 0 0'>", { type: "focus", ...on("input") }],
    ["READ_ONLY", "<input readonly box='0 0 100 20'>", { type: "setText", text: "x", ...on("input") }],
    ["UNSUPPORTED_TARGET_TYPE", "<p box='0 0 100 20'>text</p>", { type: "setText", text: "x", ...on("p") }],
    ["UNSUPPORTED_TARGET_TYPE", "<p>no focus</p>", { type: "typeText", text: "x" }],
    ["UNSUPPORTED_TARGET_TYPE", "<p box='0 0 100 20'>text</p>", { type: "select", ...on("p") }],
    ["COVERED", "<button box='0 0 100 20'>Go</button><div box='0 0 500 500'></div>", { type: "click", ...on("button") }],
    ["NEEDS_NATIVE_INPUT", "<p></p>", { type: "drag" }],
  ])("as %s", async (reason, html, action) => {
    show(html);
    expect(await reasonOf(act(action))).toBe(reason);
  });

  test("when its target is not there", async () => {
    show("<p></p>");
    expect((await act({ type: "focus", ...on("input") })).error?.code).toBe("MCP_UI_NODE_NOT_FOUND");
  });

  test("unless it is forced, for what covers it", async () => {
    show("<button box='0 0 100 20'>Go</button><div box='0 0 500 500'></div>");
    expect(await act({ type: "click", force: true, ...on("button") })).toEqual({});
  });
});

describe("a capture", () => {
  const ask = { depth: 9, sections: [], internals: false, css: null, root: null };
  const records = async (more: object): Promise<Record<string, unknown>[]> => {
    const { stage } = await call({ op: "capture", ask: { ...ask, ...more } });
    return (stage as { nodes: Record<string, unknown>[] }).nodes;
  };

  test("lists elements with type, parent, label and states", async () => {
    show("<main><label for=n>Name</label><input id=n value=Ann><button disabled>Save</button></main>");
    const nodes = await records({});
    expect(nodes.map(({ t, p, l, vt, s }) => [t, p, l, vt, s])).toEqual([
      ["body", undefined, undefined, undefined, ["focused"]],
      ["main", 0, undefined, undefined, undefined],
      ["label", 1, undefined, undefined, undefined],
      ["input", 1, "Name", "Ann", undefined],
      ["button", 1, "Save", undefined, ["disabled"]],
    ]);
  });

  test("has the sections that were asked for", async () => {
    show("<button box='10 20 30 40' title=tip aria-description=help>Go</button>");
    const button = (await records({ sections: ["bounds", "accessibility", "properties", "reach"] }))[1];
    expect(button).toMatchObject({ bs: [10, 20, 30, 40], bp: [10, 20, 30, 40], ro: "BUTTON", he: "help", tt: "tip", re: { inViewport: true } });
  });

  test("marks what a css selector means, and refuses one that is none", async () => {
    show("<p class=x></p><p></p>");
    expect((await records({ css: ".x" })).map(({ q }) => q)).toEqual([undefined, 1, undefined]);
    vi.spyOn(document, "querySelectorAll").mockImplementation(() => {
      throw new SyntaxError("no selector");
    });
    expect((await call({ op: "capture", ask: { ...ask, css: "][" } })).error?.code).toBe("MCP_UI_INVALID_ARGUMENT");
  });

  test("leaves out what is secret", async () => {
    show("<p class=secret>4711</p>");
    expect((await records({ redact: [".secret"] }))[1]).toMatchObject({ k: true });
    expect(JSON.stringify(await records({ redact: [".secret"] }))).not.toContain("4711");
  });

  test("ends at a depth, and counts what is below", async () => {
    show("<main><p></p><p></p></main>");
    expect((await records({ depth: 1 })).map(({ t, ct }) => [t, ct])).toEqual([["body", undefined], ["main", 2]]);
  });

  test("describes the visible rows of a long list", async () => {
    show("<div role=grid aria-rowcount=50><div role=row aria-rowindex=4><span role=gridcell>a</span></div><div role=row aria-rowindex=5 aria-selected=true><span role=gridcell>b</span></div></div>");
    expect((await records({ sections: ["virtualization"] }))[1]?.["z"]).toMatchObject({ itemsCount: 50, visibleRange: { from: 3, to: 4 }, selectedIndices: [4], visibleCells: [{ index: 3, cells: [{ text: "a" }] }, { index: 4, cells: [{ text: "b" }] }] });
  });

  test("reports bindings that failed, and where the focus is", async () => {
    show("<p id=x ui-error-description='no such field'></p><input>");
    field().focus();
    const { problems, focus } = await call({ op: "capture", ask });
    expect([problems, focus]).toEqual([["binding on <p#x>: no such field"], expect.objectContaining({ path: pathOf("input") })]);
  });

  test("begins at a node that was named, or fails without one", async () => {
    show("<main><p>x</p></main>");
    expect((await records({ root: { path: pathOf("main") } })).map(({ t }) => t)).toEqual(["main", "p"]);
    expect((await call({ op: "capture", ask: { ...ask, root: { path: pathOf("nav") } } })).error?.code).toBe("MCP_UI_NODE_NOT_FOUND");
  });
});

describe("other questions", () => {
  test("where to click, the box of a node, and what is at a point", async () => {
    show("<main box='0 0 400 400'><button box='10 10 20 20'>Go</button></main>");
    expect(await call({ op: "spot", target: { path: `${pathOf("main")}/button[0]` } })).toEqual({ x: 20, y: 20 });
    expect(await call({ op: "at", x: 15, y: 15 })).toMatchObject({ chain: [{ path: `${pathOf("main")}/button[0]` }, { path: pathOf("main") }, { path: "/stages[0]/scene/root" }] });
    expect(await reasonOf(call({ op: "at", x: 900, y: 900 }))).toBe("OFFSCREEN");
    expect(await call({ op: "box", target: { path: pathOf("main") } })).toEqual({ x: 0, y: 0, width: 100, height: 20 });
  });

  test("annotations are drawn over what can be operated, and removed", async () => {
    show("<button box='0 0 100 20'>Go</button><button hidden>No</button><p>text</p>");
    expect(await call({ op: "annotate" })).toEqual({ count: 1 });
    expect(document.querySelector("#ui-mcp-annotations span")?.textContent).toMatch(/^p\d+$/);
    expect([await call({ op: "clear" }), document.querySelector("#ui-mcp-annotations")]).toEqual([{ count: 0 }, null]);
  });

  test("waiting for the page to be idle ends", async () => {
    expect(await call({ op: "idle" })).toEqual({});
  });

  test("the file input of an element can be had by its reference", () => {
    show("<p><input type=file></p>");
    expect(page.fileInput(JSON.stringify({ path: pathOf("p") }))).toBe(document.querySelector("input"));
  });

  test("what is no question is an internal error", async () => {
    expect((JSON.parse(await page.call("{")) as Answer).error?.code).toBe("MCP_UI_INTERNAL");
  });
});
