"""What a person does with `ui-mcp trust`, for tests whose project widens rights."""

from pathlib import Path

from ui_mcp.config import rights, trusted_place
from ui_mcp.gateway.config.agreement import trust_request, trust_requests
from ui_mcp.trust import Agreements
from ui_mcp.workspace import Workspace


def agree(base: Path, home: Path | None = None) -> None:
    """Agree to everything that a base directory asks for; `home` is that of an account without XDG variables."""
    account = Agreements(home / ".config/ui-mcp/trusted.json" if home else None)
    for wish in trust_requests(Workspace.at(base)):
        account.add(wish.place, wish.contents)


def agree_to_file(file: Path) -> Path:
    """Agree to what one configuration file asks for; return the file."""
    Agreements().add(trusted_place(file), rights(file))
    return file


def agree_to_gateway(file: Path, account: Path | None = None) -> Path:
    """Agree to an nlui.yaml, as `nlui trust` does; `account` is another configuration directory; return the file."""
    wish = trust_request(file)
    Agreements(account / "ui-mcp/trusted.json" if account else None).add(wish.place, wish.contents)
    return file
