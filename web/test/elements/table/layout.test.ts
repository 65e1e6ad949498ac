import { expect, it } from "vitest";
import type { Column } from "../../../src/elements/table/columns";
import type { Rows } from "../../../src/elements/table/data";
import { Layout } from "../../../src/elements/table/layout";

it("keeps the width of a column while rows with shorter texts come into view", () => {
  const layout = new Layout();
  layout.columns = [{ name: "id", label: "Id", width: "" } as unknown as Column];
  const rows = (text: string): Rows => ({ rows: [[1, text]] }) as unknown as Rows;
  const wide = layout.tracks(rows("a long text of a row"));
  expect(layout.tracks(rows("short"))).toEqual(wide);
  expect(layout.tracks(rows("an even longer text of a row"))).not.toEqual(wide);
});
