"""The Lua world of a session: started, watched, and replaced when it dies."""

from collections.abc import Awaitable, Callable
from time import monotonic

from ui_mcp.errors import SessionGoneError, UiMcpError
from ui_mcp.lua_runtime.interface import World
from ui_mcp.session.outputs import WorldOutputs
from ui_mcp.session.revival import Crashes


class Life:
    """Holds the present world; `died` and `over` say why there is none."""

    def __init__(self, launch: Callable[[WorldOutputs], Awaitable[World]], outputs: Callable[[], WorldOutputs]) -> None:
        self._launch = launch
        self._new_outputs = outputs
        self._outputs: WorldOutputs | None = None
        self._world: World | None = None
        self._crashes = Crashes()
        self.died: str | None = None
        """Why the world ended by itself, until it is replaced."""
        self.over: str | None = None
        """Why there will be no other world."""

    def world(self) -> World:
        """Return the present world.

        Raises:
            SessionGoneError: there is none any more.
        """
        if self.over is not None or self._world is None:
            raise SessionGoneError(f"the session is over: {self.over or 'it never started'}")
        return self._world

    async def start(self) -> None:
        """Start a world.

        Raises:
            LuaError: the project's start-up code failed.
        """
        self._outputs = self._new_outputs()
        self._world = await self._launch(self._outputs)

    async def replace(self) -> None:
        """Start another world after the present one died; failing that, the life is over."""
        reason, self.died = self.died or "", None
        await self.close()
        if not self._crashes.may_restart(monotonic()):
            self.over = f"it crashed three times within a minute: {reason}"
            return
        try:
            await self.start()
        except UiMcpError as error:
            self.over = error.message

    async def close(self) -> None:
        """End the present world; what it still says is not heard."""
        if self._outputs is not None:
            self._outputs.current = False
        if self._world is not None:
            await self._world.close()
