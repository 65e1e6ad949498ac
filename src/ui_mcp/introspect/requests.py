"""What agents send to the introspection tools; unknown fields are ignored, so that the contract can grow."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from ui_mcp.introspection.contract import Ref, Section
from ui_mcp.jsontypes import Json, JsonObject


class Request(BaseModel):
    """Base of everything an agent sends: camelCase outside, unknown fields ignored."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel, populate_by_name=True)


def _as_ref(value: Json) -> Json:
    return {"uid": value} if isinstance(value, str) else value


class NodeRef(Request):
    """A node: `uid` as an earlier answer gave it (or `path`)."""

    uid: str | None = Field(None, description="Stable id, e.g. the word after the type in the outline.")
    path: str | None = Field(None, description="Canonical path, used when the uid is absent or gone.")
    hint: JsonObject | None = Field(
        None, description="{id?, type?, text?}: helps to name candidates, never changes the result."
    )

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.uid and not self.path:
            raise ValueError("name the node by uid or path; ui_query finds it by css or text")
        return self

    def ref(self) -> Ref:
        """Return the reference for inside."""
        return Ref(self.uid, self.path, self.hint)


AnyRef = Annotated[NodeRef, BeforeValidator(_as_ref)]


def _as_target(value: Json) -> Json:
    if isinstance(value, dict) and "ref" in value:
        return _as_ref(value["ref"])
    return _as_ref(value)


ActionTarget = Annotated[NodeRef, BeforeValidator(_as_target)]


class Include(Request):
    """Which sections to write; absent ones follow the mode."""

    bounds: bool | None = Field(None, description="boundsInParent and boundsInScene.")
    local_to_screen: bool | None = Field(None, description="Screen rectangle, the space of click x and y.")
    properties: bool | None = Field(None, description="Tooltip and user data.")
    virtualization: bool | None = Field(None, description="Rows of lists, tables and trees.")
    accessibility: bool | None = Field(None, description="Role and help.")
    internals: bool | None = Field(None, description="Parts inside controls as well.")
    reach: bool | None = Field(None, description="Whether each node is in view, covered, or behind a dialog (off).")
    popups: bool | None = Field(None, description="Menus, tooltips and other popups (on).")

    def sections(self, defaults: frozenset[Section]) -> frozenset[Section]:
        """Return the defaults with the given choices applied."""
        chosen: dict[Section, bool | None] = {
            "bounds": self.bounds,
            "localToScreen": self.local_to_screen,
            "properties": self.properties,
            "virtualization": self.virtualization,
            "accessibility": self.accessibility,
            "reach": self.reach,
        }
        return frozenset(name for name, given in chosen.items() if (name in defaults if given is None else given))


class Predicate(Request):
    """Conditions that must all hold; an unknown one is an error, since dropping it would match the wrong nodes."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)

    type_is: list[str] | None = Field(None, description="Any of these types.")
    id_equals: str | None = None
    style_class_has: str | None = None
    text_contains: str | None = Field(None, description="Case does not matter.")
    visible: bool | None = Field(None, description="Ancestors count too.")
    enabled: bool | None = None


class Selector(Request):
    """css, text and predicate; all that are given must hold."""

    css: str | None = Field(None, description="#id, .class, Type, A > B, A B.")
    text: str | None = Field(None, description="Text a person sees.")
    match: Literal["contains", "equals", "regex"] = Field("contains", description="How `text` is compared.")
    predicate: Predicate | None = None


class Scope(Request):
    """Where to look."""

    stage: Literal["focused", "index", "all"] = "focused"
    stage_index: int | None = None
