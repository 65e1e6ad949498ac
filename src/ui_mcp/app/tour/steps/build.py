"""An app appears part by part, while its files are written."""

from ui_mcp.app.tour.agent import VIEW, Step, TourAgent, before, part

END_OF_VIEW = "  </section>"
END_OF_GRID = "    </div><!-- details -->"


async def run(agent: TourAgent) -> None:
    await agent.edit({"path": "app.lua", "text": part("app.lua")}, {"path": VIEW, "text": part("view.html")}, show=True)
    if agent.is_repeated:  # a reload keeps the state of the run before
        await agent.call("ui_run", {"code": "trip = Trip:new() mcp:display('trip')"})
    await agent.edit(before(VIEW, END_OF_GRID, "table.html"))
    await agent.edit(before(VIEW, END_OF_GRID, "chart.html"), seconds=2.6)


STEP = Step(20, "Build", run)
