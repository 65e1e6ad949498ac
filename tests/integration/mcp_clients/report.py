"""What every client script prints about what it found; foreign environments run it, so it imports none of ours."""

import json
from typing import Any


def tell(version: str, tools: list[Any], status: Any, resources: list[Any], guide: Any) -> None:
    """Print the report."""
    block = status.content[0]
    print(
        json.dumps(
            {
                "version": version,
                "tools": [tool.name for tool in tools],
                "state": json.loads(block.text)["state"],
                "resources": [str(resource.uri) for resource in resources],
                "guide": guide.text[:2],
            }
        )
    )
