import { expect, test } from "vitest";
import { type AgentRequest, runBar } from "../../src/chat/run_bar";

const button = (bar: HTMLElement): HTMLButtonElement => bar.querySelector("button") as HTMLButtonElement;

test("a running agent can be stopped and a stopped one continued", async () => {
  const asked: AgentRequest[] = [];
  const bar = runBar((request) => Promise.resolve(asked.push(request)), () => undefined);
  expect(bar.element.hidden).toBe(true);
  for (const run of ["running", "aborted"]) {
    bar.show(run);
    button(bar.element).click();
    await new Promise((done) => setTimeout(done));
  }
  bar.show("sleeping");
  expect([asked, bar.element.hidden]).toEqual([["abort", "resume"], true]);
});

test("a request to the model that is sent again is counted instead of the state", () => {
  const bar = runBar(() => Promise.resolve(), () => undefined);
  bar.show("running", "The model is busy. Trying again in 4 s, 2 of 6");
  expect(bar.element.textContent).toBe("The model is busy. Trying again in 4 s, 2 of 6Stop");
  bar.show("aborted", "The model is busy. Trying again in 4 s, 2 of 6");
  expect(bar.element.textContent).toBe("StoppedContinue");
});

test("a page that may only read shows the state alone", () => {
  const bar = runBar(undefined, () => undefined);
  bar.show("awaiting_approval");
  expect([bar.element.textContent, button(bar.element).hidden]).toEqual(["Waiting for your answerStop", true]);
});

test("a request that fails is reported, and can be repeated", async () => {
  const failures: unknown[] = [];
  const bar = runBar(() => Promise.reject(new Error("No agent serves the conversation")), (error) => failures.push(error));
  bar.show("running");
  button(bar.element).click();
  await new Promise((done) => setTimeout(done));
  expect([String(failures[0]), button(bar.element).disabled]).toEqual(["Error: No agent serves the conversation", false]);
});
