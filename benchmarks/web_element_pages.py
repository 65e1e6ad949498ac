# ruff: noqa: E501 - pages read better on one line
"""The pages of `web_elements.py`, each by us, by NiceGUI and by Streamlit."""

LUA = {
    "table": """
Table = session:prototype("Table", { rows = EMPTY, changes = 0, plain = "", transient = { "rows" } })
function Table:new() return session:create(Table, { rows = {} }) end
function Table:change()
    self.changes = self.changes + 1
    self.rows[1].name = "changed " .. self.changes
end
function Table:changePlain() self.changes = self.changes + 1 self.plain = "changed " .. self.changes end
if not session.reloading then
    tablePage = Table:new()
    for i = 1, 100000 do tablePage.rows[i] = { id = i, name = "row " .. i, amount = i * 7919 % 100000 } end
end
""",
    "chart": """
Chart = session:prototype("Chart", { points = EMPTY, transient = { "points" } })
function Chart:new() return session:create(Chart, { points = {} }) end
function Chart:add()
    local n = #self.points + 1
    self.points[n] = { x = n, y = math.sin(n / 300) * 100 + n % 17 }
end
if not session.reloading then
    chartPage = Chart:new()
    for _ = 1, 10000 do chartPage:add() end
    session:setInterval(function() chartPage:add() end, 100)
end
""",
    "log": """
Log = session:prototype("Log", { lines = EMPTY, transient = { "lines" } })
function Log:new() return session:create(Log, { lines = {} }) end
function Log:add()
    for _ = 1, 100 do self.lines[#self.lines + 1] = "line " .. (#self.lines + 1) .. " of the log" end
end
if not session.reloading then
    logPage = Log:new()
    session:setInterval(function() logPage:add() end, 100)
end
""",
    "plain": 'Plain = session:prototype("Plain", { text = "hello" })\nif not session.reloading then plainPage = Plain:new() end\n',
}
VIEWS = {
    "table": '<button id="change" ui-action="change()">change</button><button id="plain" ui-action="changePlain()">plain</button>'
    '<p id="text" ui-value="plain"></p><ui-table label="Rows" ui-value="rows" height="600px"></ui-table>',
    "chart": '<ui-chart label="Points" type="line" x="x" series="y" ui-value="points"></ui-chart>',
    "log": '<ui-log label="Log" ui-value="lines" height="400px"></ui-log>',
    "plain": '<p id="text" ui-value="text"></p>',
}
NICEGUI = """
import math, sys
from nicegui import ui

@ui.page("/table")
def table():
    rows = [{"id": i, "name": f"row {i}", "amount": i * 7919 % 100000} for i in range(1, 100001)]
    done = {"changes": 0}
    columns = [{"field": "id"}, {"field": "name"}, {"field": "amount", "sortable": True}]
    options = {"columnDefs": columns, "rowData": rows, ":getRowId": "(p) => String(p.data.id)"}
    grid = ui.aggrid(options).style("height: 600px")
    def change():
        done["changes"] += 1
        grid.run_row_method("1", "setDataValue", "name", f"changed {done['changes']}")
    ui.button("change", on_click=change).props("id=change")

@ui.page("/chart")
def chart():
    points = []
    def add():
        n = len(points) + 1
        points.append([n, math.sin(n / 300) * 100 + n % 17])
    for _ in range(10000):
        add()
    series = {"type": "line", "data": points, "showSymbol": False}
    shown = ui.echart({"xAxis": {"type": "value"}, "yAxis": {"type": "value"}, "series": [series]})
    def tick():
        add()
        shown.update()
    ui.timer(0.1, tick)

@ui.page("/log")
def log():
    shown = ui.log(max_lines=5000).style("height: 400px")
    done = {"lines": 0}
    def tick():
        for _ in range(100):
            done["lines"] += 1
            shown.push(f"line {done['lines']} of the log")
    ui.timer(0.1, tick)

@ui.page("/plain")
def plain():
    ui.label("hello").props("id=text")

@ui.page("/element/{name}")
def element(name: str):
    ui.label("hello").props("id=text")
    eval(sys.argv[2 + sys.argv[2:].index(name) + 1])

ui.run(port=int(sys.argv[1]), host="127.0.0.1", show=False, reload=False)
"""
STREAMLIT = """
import math
import sys
import pandas as pd
import streamlit as st

kept, page = st.session_state, st.query_params.get("page")
if page == "table":
    if "frame" not in kept:
        kept.changes = 0
        kept.frame = pd.DataFrame([{"id": i, "name": f"row {i}", "amount": i * 7919 % 100000} for i in range(1, 100001)])
    if st.button("change"):
        kept.changes += 1
        kept.frame.loc[0, "name"] = f"changed {kept.changes}"
    if st.button("sort"):
        kept.sorts = kept.get("sorts", 0) + 1
        by, up = [("id", True), ("amount", True), ("amount", False)][kept.sorts % 3]
        kept.frame = kept.frame.sort_values(by, ascending=up)
    st.dataframe(kept.frame, height=600, hide_index=True)
elif page == "chart":
    if "points" not in kept:
        kept.points = []
    def add():
        n = len(kept.points) + 1
        kept.points.append({"x": n, "y": math.sin(n / 300) * 100 + n % 17})
    while len(kept.points) < 10000:
        add()
    @st.fragment(run_every=0.1)
    def shown():
        add()
        st.line_chart(pd.DataFrame(kept.points), x="x", y="y")
    shown()
elif page == "log":
    if "lines" not in kept:
        kept.lines = []
    @st.fragment(run_every=0.1)
    def shown():
        for _ in range(100):
            kept.lines.append(f"line {len(kept.lines) + 1} of the log")
        st.code("\\n".join(kept.lines[-5000:]), language=None, height=400)
    shown()
else:
    st.write("hello")
    if page in sys.argv:
        eval(sys.argv[sys.argv.index(page) + 1])
"""
NICEGUI_ELEMENTS = {
    "ui-table": "ui.aggrid({'columnDefs': [{'field': 'a'}], 'rowData': [{'a': 1}]})",
    "ui-chart": "ui.echart({'xAxis': {}, 'yAxis': {}, 'series': [{'type': 'line', 'data': [[1, 2]]}]})",
    "ui-text": "ui.input('Name')",
    "ui-upload": "ui.upload()",
    "ui-date": "ui.date()",
    "ui-time": "ui.time()",
    "ui-combobox": "ui.select(['a', 'b'], with_input=True)",
    "ui-tags": "ui.input_chips('Tags')",
    "ui-number": "ui.number('Number')",
    "ui-rating": "ui.rating(3)",
    "ui-stepper": "ui.stepper()",
    "ui-markdown": "ui.markdown('**bold**')",
    "ui-log": "ui.log()",
    "ui-editor": "ui.codemirror('print(1)', language='Python')",
    "ui-json": "ui.json_editor({'content': {'json': {'a': 1}}})",
    "ui-tree": "ui.tree([{'id': 'a', 'children': [{'id': 'b'}]}])",
    "ui-toast": "ui.notification('hello')",
    "ui-mermaid": "ui.mermaid('graph LR; A --> B')",
}
STREAMLIT_ELEMENTS = {
    "ui-table": "st.dataframe({'a': [1]})",
    "ui-chart": "st.line_chart({'a': [1, 2]})",
    "ui-text": "st.text_input('Name')",
    "ui-upload": "st.file_uploader('File')",
    "ui-date": "st.date_input('Day')",
    "ui-time": "st.time_input('Time')",
    "ui-combobox": "st.selectbox('One', ['a', 'b'])",
    "ui-tags": "st.multiselect('Many', ['a', 'b'])",
    "ui-number": "st.number_input('Number')",
    "ui-rating": "st.feedback('stars')",
    "ui-markdown": "st.markdown('**bold**')",
    "ui-log": "st.code('a line')",
    "ui-json": "st.json({'a': 1})",
    "ui-toast": "st.toast('hello')",
}
