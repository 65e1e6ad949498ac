"""`nlui init`: writes a commented nlui.yaml to start from."""

import argparse
from contextlib import suppress
from pathlib import Path

from ui_mcp.errors import ConfigError
from ui_mcp.gateway.config.loader import FILE
from ui_mcp.trust import Agreements, place_of

STARTER = """\
# nlui: chat with your own APIs and MCP servers.
# Start it with `nlui`, then open http://127.0.0.1:9000. `nlui check` reports what was understood of this file.
# After you edit it, `nlui trust` (or the next `nlui` in a terminal) shows it and asks whether to use it.
# Keep secrets out of this file: ${VARIABLE} reads one from the environment, file:PATH from a file,
# keyring:SERVICE/USER from your system's keyring.

# The model that answers. You can also choose and test it on the page ("Model", "Change").
llm:
  provider: auto                  # or PROVIDERS
  # OpenAI:
  #   api_key: ${OPENAI_API_KEY}
  #   model: gpt-4.1-mini
  # Anthropic:
  #   provider: anthropic
  #   api_key: ${ANTHROPIC_API_KEY}
  #   model: claude-sonnet-4-5
  # A model on this machine, without a key (Ollama):
  #   api_base: http://127.0.0.1:11434/v1
  #   model: llama3.1

# HTTP APIs. nlui looks for the OpenAPI document at base_url; set `spec` (a file or a URL) if it is elsewhere.
targets: []
  # - name: petstore
  #   base_url: https://petstore.example.com
  #   auth: {type: bearer, token: "${PETSTORE_TOKEN}"}

# MCP servers whose tools are included.
mcp:
  servers: []
  # - name: files
  #   command: npx
  #   args: ["-y", "@modelcontextprotocol/server-filesystem", "."]

# guard asks you before POST, PUT, PATCH and DELETE; host leaves that to the MCP client.
policy:
  mode: guard
  rules: []
  # - {tool: "petstore__delete*", decision: deny_continue}

# Where the chat listens. An address that other machines can reach needs a token.
server:
  host: 127.0.0.1
  port: 9000
  # token: ${NLUI_TOKEN}
"""


def _starter() -> str:
    from ui_mcp.agent.models import providers  # imports an HTTP client, which no other command needs this early

    named = [f"{name} ({one.summary})" if one.summary else name for name, one in providers().items()]
    return STARTER.replace("PROVIDERS", ", ".join(named))


def _init(options: argparse.Namespace) -> int:
    file = Path(options.file or FILE)
    if file.exists():
        raise ConfigError(f"{file} already exists")
    text = _starter()
    try:
        file.touch(mode=0o600)
        file.write_bytes(text.encode())
    except OSError as error:
        raise ConfigError(f"Cannot write {file}: {error.strerror or error}") from error
    with suppress(ConfigError):  # without a recorded agreement, nlui asks at the first start
        Agreements().add(place_of(file), text.encode())
    print(f"Wrote {file}. Start the chat with: nlui{'' if file.name == FILE else f' {file}'}")
    return 0
