import { beforeEach, expect, test, vi } from "vitest";
import { RequestError } from "../../src/person/client";
import { grouped, signInScreen, waitingScreen } from "../../src/person/sign_in";

let codes: string[];
let result: () => Promise<void>;
const field = (): HTMLInputElement => {
  const found = document.querySelector("input");
  if (!found) throw new Error("no field");
  return found;
};
const submit = async (text: string): Promise<void> => {
  field().value = text;
  document.querySelector("form")?.requestSubmit();
  await vi.waitFor(() => expect(document.querySelector<HTMLButtonElement>(".entry-go")?.disabled).toBe(false));
};
const problem = (): string | undefined => document.querySelector("[role=alert]")?.textContent;

beforeEach(() => {
  codes = [];
  result = () => Promise.resolve();
  const screen = signInScreen((code) => {
    codes.push(code);
    return result();
  }, "You are signed out.");
  document.body.replaceChildren(screen.element);
  screen.focus();
});

test("the screen says why it is there, and has the focus in its field", () => {
  expect([problem(), document.activeElement]).toEqual(["You are signed out.", field()]);
});

test("a code is sent as the terminal shows it", async () => {
  await submit("abcd efgh jklm npqr");
  expect(codes).toEqual(["ABCD-EFGH-JKLM-NPQR"]);
});

test("a code that is too short is not sent", async () => {
  await submit("abcd");
  expect([codes, problem(), field().getAttribute("aria-invalid")]).toEqual([[], "A code has 16 letters and digits.", "true"]);
  field().dispatchEvent(new Event("input"));
  expect([problem(), field().getAttribute("aria-invalid")]).toEqual(["", null]);
});

test("a code that is refused says why", async () => {
  result = () => Promise.reject(new RequestError(401, "unauthorized", "This code was used already."));
  await submit("abcdefghjklmnpqr");
  expect(problem()).toBe("This code was used already.");
});

test("typing at the end groups the code", () => {
  field().value = "abcdef";
  field().setSelectionRange(6, 6);
  field().dispatchEvent(new Event("input"));
  expect(field().value).toBe("ABCD-EF");
});

test("codes are grouped by four, in capitals", () => {
  expect([grouped("abcd efgh"), grouped("abcdefghjklmnpqrst"), grouped("ab")]).toEqual(["ABCD-EFGH", "ABCD-EFGH-JKLM-NPQR", "AB"]);
});

test("a screen for the meantime says what is going on", () => {
  expect(waitingScreen("Loading…").textContent).toBe("Loading…");
});
