"""Writes the constants of the introspection contract for Java; run it after changing a schema in contracts/."""

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "contracts" / "records.schema.json"
ERRORS = ROOT / "contracts" / "ui-error.schema.json"
JAVA = ROOT / "agents" / "jvm" / "src" / "uimcp" / "core" / "Contract.java"
CODE_PREFIX = "MCP_UI_"


def generated() -> dict[Path, str]:
    """Return the text of each generated file."""
    fields = json.loads(RECORDS.read_text())["$defs"]["record"]["properties"]
    codes = json.loads(ERRORS.read_text())["properties"]["error"]["properties"]["code"]["enum"]
    return {JAVA: _java(fields, codes)}


def _java(fields: dict[str, Any], codes: list[str]) -> str:
    return "\n".join(
        [
            "package uimcp.core;",
            "",
            "/** Constants of the schemas in contracts/. Written by scripts/contract.py. */",
            "public final class Contract {",
            "    private Contract() {}",
            "",
            *_class("ErrorCode", "Codes of errors: ui-error.schema.json."),
            *(_constant(code.removeprefix(CODE_PREFIX), code) for code in codes),
            "    }",
            "",
            *_class("RecordField", "Fields of a record: records.schema.json."),
            *(line for key, field in fields.items() for line in _field(key, field)),
            "    }",
            "}",
            "",
        ]
    )


def _class(name: str, about: str) -> list[str]:
    return [f"    /** {about} */", f"    public static final class {name} {{", f"        private {name}() {{}}", ""]


def _field(key: str, field: dict[str, Any]) -> list[str]:
    about = field.get("description")
    comment = [f"        /** {about[0].upper()}{about[1:]}. */"] if about else []
    return [*comment, _constant(_constant_name(field["title"]), key)]


def _constant(name: str, value: str) -> str:
    return f'        public static final String {name} = "{value}";'


def _constant_name(title: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", title).upper()


if __name__ == "__main__":
    for file, text in generated().items():
        file.write_text(text)
        print(file.relative_to(ROOT))
