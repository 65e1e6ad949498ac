import { expect, test } from "vitest";
import { HistoryRequests } from "../../src/history/requests";

const sent: { data: { id: number; action: string; step?: number } }[] = [];
const send = (frame: string): boolean => sent.push(JSON.parse(frame) as (typeof sent)[number]) > 0;

test("an answer goes to the question with its number", async () => {
  const requests = new HistoryRequests(send);
  const first = requests.ask("list");
  const second = requests.ask("look", { step: 7 });
  requests.receive({ id: 2, result: { session: "abc" } });
  requests.receive({ id: 1, error: "no history" });

  expect(sent.map(({ data }) => data)).toEqual([{ id: 1, action: "list" }, { id: 2, action: "look", step: 7 }]);
  await expect(second).resolves.toEqual({ session: "abc" });
  await expect(first).rejects.toThrow("no history");
});

test("without a connection, and when it is lost, questions fail", async () => {
  await expect(new HistoryRequests(() => false).ask("undo")).rejects.toThrow("The server cannot be reached");
  const requests = new HistoryRequests(send);
  const asked = requests.ask("undo");
  requests.lost();
  await expect(asked).rejects.toThrow("The connection was lost");
});
