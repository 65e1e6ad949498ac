import { beforeEach, describe, expect, test } from "vitest";
import type { PageMessage } from "../../src/protocol";
import { Variables } from "../../src/store/variables";

let sent: PageMessage[];
let variables: Variables;

beforeEach(() => {
  sent = [];
  variables = new Variables((message) => sent.push(message), () => null);
});

describe("a variable", () => {
  test("is created below the root with its path as a property", () => {
    const id = variables.create({ path: "total()", properties: { a: "1" } });
    expect(sent).toEqual([{ type: "create", data: { id, parentId: 1, properties: { path: "total()", a: "1" } } }]);
    expect(variables.get(id)).toEqual({ varId: id, parentId: 1, value: null, properties: { path: "total()", a: "1" } });
  });

  test("gets an id that is not in use, also after one was chosen", () => {
    expect([variables.create({ id: 7 }), variables.create({}), variables.create({ parentId: 7 })]).toEqual([7, 8, 9]);
  });

  test("is updated here and on the server", () => {
    const id = variables.create({});
    variables.update(id, 5, { a: "1" });
    variables.update(id, undefined, { a: "" });
    expect(sent.slice(1)).toEqual([{ type: "update", data: { varId: id, value: 5, properties: { a: "1" } } }, { type: "update", data: { varId: id, properties: { a: "" } } }]);
    expect(variables.get(id)).toMatchObject({ value: 5, properties: {} });
  });

  test("is forgotten when it is destroyed, or when the connection is a new one", () => {
    const [first, second] = [variables.create({}), variables.create({})];
    variables.destroy(first);
    expect([sent.at(-1), variables.get(first)]).toEqual([{ type: "destroy", data: { varId: first } }, null]);
    variables.reset();
    expect([variables.get(second), variables.create({})]).toEqual([null, 2]);
  });

  test("that failed marks the element it belongs to", () => {
    document.body.innerHTML = '<p id="place"></p>';
    const id = variables.create({ properties: { elementId: "place" } });
    variables.fail({ varId: id, code: "bad", description: "why" });
    variables.fail({ varId: 99, code: "bad", description: "why" });
    expect(document.body.innerHTML).toBe('<p id="place" class="ui-error" ui-error-code="bad" ui-error-description="why"></p>');
  });
});

describe("a watcher", () => {
  test("is called with the present value and with every update of the server, until it is stopped", () => {
    const seen: unknown[] = [];
    const id = variables.create({ value: 1 });
    const stop = variables.watch(id, (_, value, properties) => seen.push([value, { ...properties }]));
    variables.receive({ varId: id, value: 2, properties: { a: "1", viewdefs: "{}" } });
    variables.update(id, 3);
    stop();
    variables.receive({ varId: id, value: 4 });
    expect(seen).toEqual([[1, {}], [2, { a: "1" }]]);
  });

  test("of a variable without a value waits for the first", () => {
    const seen: unknown[] = [];
    variables.watch(5, (variable) => seen.push(variable.value));
    variables.receive({ varId: 5, value: "x" });
    expect(seen).toEqual(["x"]);
  });
});
