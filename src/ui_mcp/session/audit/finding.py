"""What an audit finds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing to mend: `location` is `app.lua:12` or `viewdefs/FILE`."""

    location: str
    rule: str
    text: str

    def as_json(self) -> dict[str, str]:
        """Return it as the tool answers it."""
        return {"rule": self.rule, "location": self.location, "text": self.text}
