"""The agent asks in the inbox and wants to change something outside; the person decides on their own page."""

from ui_mcp.app.tour.agent import Step, TourAgent
from ui_mcp.errors import UiMcpError
from ui_mcp.jsontypes import Json, JsonObject, loads

WAYS = ["By post", "By bike"]
ASK_SECONDS = 50


async def run(agent: TourAgent) -> None:
    orders = loads(await agent.call("shop__list_orders"))["result"]
    open_order = next(order for order in orders if not order["shipped"])
    number, item = open_order["id"], open_order["item"]
    await agent.say(
        f"I can use APIs too. In the demo shop, order {number} ({item}) waits. "
        "Shipping it changes something, so **you decide**.",
        seconds=1.2,
    )
    agent.waits_for("approval")
    try:
        way = way_of(await _answered(agent, {"text": f"How should order {number} travel?", "choices": WAYS}))
        said = await _shipped(agent, number, way)
    finally:
        agent.waits_for("agent")
    await agent.say(said, seconds=1.8)


async def _answered(agent: TourAgent, question: Json) -> JsonObject:
    """Ask in the inbox and wait, however long the person takes."""
    asked: JsonObject = loads(await agent.call("ui_ask", {"questions": [question], "wait": ASK_SECONDS}))
    while asked["status"] == "pending":
        asked = loads(await agent.call("ui_ask", {"id": asked["id"], "wait": ASK_SECONDS}))
    return asked


def way_of(asked: JsonObject) -> str:
    """Return the person's answer as words to end a sentence with; "" without one. Pure."""
    answers = asked.get("answers") or [None]
    return f", {str(answers[0]).lower()}" if answers[0] else ""


async def _shipped(agent: TourAgent, number: int, way: str) -> str:
    """Ship the order once it is approved, and say what came of it."""
    try:
        shipped = await agent.call("shop__ship_order", {"id": number})
    except UiMcpError as error:
        if "denied" not in error.message.lower():
            raise
        return f"You said no, so order {number} stays where it is. Nothing was sent."
    return f"You agreed, so order {number} is on its way{way}." if '"shipped"' in shipped else shipped


STEP = Step(50, "Decide", run)
