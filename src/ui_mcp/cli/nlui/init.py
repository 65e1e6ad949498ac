"""The nlui.yaml that `nlui init` writes: every part with the words one needs to change it."""

import argparse
from contextlib import suppress
from pathlib import Path

from ui_mcp.errors import ConfigError
from ui_mcp.gateway.config.loader import FILE
from ui_mcp.trust import Agreements, place_of

STARTER = """\
# nlui: chat with your own APIs and MCP servers.
# Start it with `nlui`, then open http://127.0.0.1:9000. `nlui check` says what was understood of this file.
# After you edited it, `nlui trust` (or the next `nlui` in a terminal) shows it and asks whether to use it.
# Secrets never have to stand here: ${VARIABLE} takes one from the environment, file:PATH from a file,
# keyring:SERVICE/USER from the keyring of your system.

# The model that answers. It can also be chosen, and tried out, on the page ("Model", "Change").
llm:
  provider: auto                  # openai (also Ollama, LM Studio, vLLM, DeepSeek), anthropic, gemini, scripted
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

# HTTP APIs. Their OpenAPI document is looked for at base_url; give `spec` (a file or an address) if it is elsewhere.
targets: []
  # - name: petstore
  #   base_url: https://petstore.example.com
  #   auth: {type: bearer, token: "${PETSTORE_TOKEN}"}

# MCP servers whose tools are borrowed.
mcp:
  servers: []
  # - name: files
  #   command: npx
  #   args: ["-y", "@modelcontextprotocol/server-filesystem", "."]

# guard asks you before POST, PUT, PATCH and DELETE; host leaves asking to the MCP client.
policy:
  mode: guard
  rules: []
  # - {tool: "petstore__delete*", decision: deny_continue}

# Where the chat listens. Another address than this machine's own needs a token.
server:
  host: 127.0.0.1
  port: 9000
  # token: ${NLUI_TOKEN}
"""


def _init(options: argparse.Namespace) -> int:
    file = Path(options.file)
    if file.exists():
        raise ConfigError(f"{file} is already there")
    try:
        file.touch(mode=0o600)
        file.write_bytes(STARTER.encode())
    except OSError as error:
        raise ConfigError(f"Cannot write {file}: {error.strerror or error}") from error
    with suppress(ConfigError):  # nlui asks, then
        Agreements().add(place_of(file), STARTER.encode())
    print(f"Wrote {file}. Start the chat with: nlui{'' if file.name == FILE else f' {file}'}")
    return 0
