"""The completion scripts of bash, zsh and fish, generated from the same table."""

import re
from collections.abc import Callable, Sequence
from shlex import quote

from ui_mcp.cli.completion_words import Place, Value, Word

BASH = """\
# bash completion for ui-mcp and nlui
_ui_mcp() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at=${COMP_WORDS[0]##*/} word words=
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      %(paths)s) at="$at $word" ;;
    esac
  done
  COMPREPLY=()
  case "$at $prev" in
%(values)s
  esac
  case "$at" in
%(words)s
  esac
  words=" $words"
  [[ $cur == -* ]] || words=${words%%%% -*}
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o default -F _ui_mcp ui-mcp nlui
"""
ZSH = """\
#compdef ui-mcp nlui
_ui_mcp() {
  local at=${words[1]:t} prev=${words[CURRENT-1]} word
  local -a found
  for word in "${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      (%(paths)s) at="$at $word" ;;
    esac
  done
  case "$at $prev" in
%(values)s
  esac
  case "$at" in
%(words)s
  esac
  if [[ $PREFIX != -* ]]; then
    found=("${(@)found:#-*}")
  fi
  if (( $#found )); then
    _describe -o -t commands ui-mcp found && return
  fi
  _files
}
if [[ ${funcstack[1]} == _ui-mcp ]]; then
  _ui_mcp "$@"
else
  compdef _ui_mcp ui-mcp nlui
fi
"""
FISH = """\
# fish completion for ui-mcp and nlui
function __ui_mcp_at
  set -l words (commandline -opc)
  set -l at (string replace -r '.*/' '' -- $words[1])
  for word in $words[2..-1]
    switch "$at $word"
      case %(paths)s
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
%(words)s
"""


def script(shell: str, places: Sequence[Place]) -> str:
    paths = [place.path for place in places if " " in place.path]
    match shell:
        case "bash":
            return BASH % {
                "paths": "|".join(map(quote, paths)),
                "values": "\n".join(_cases(places, _bash_value)),
                "words": "\n".join(f"    {quote(place.path)}) words={quote(_listed(place))} ;;" for place in places),
            }
        case "zsh":
            return ZSH % {
                "paths": "|".join(map(quote, paths)),
                "values": "\n".join(_cases(places, _zsh_value, open_bracket="(")),
                "words": "\n".join(f"    ({quote(place.path)}) found=({_described(place)}) ;;" for place in places),
            }
        case _:
            lines = [line for place in places for line in _fish(place)]
            return FISH % {"paths": " ".join(map(quote, paths)), "words": "\n".join(lines)}


def _cases(places: Sequence[Place], write: Callable[[Value], str], open_bracket: str = "") -> list[str]:
    return [
        f"    {open_bracket}{quote(f'{place.path} {option}')}) {write(value)} ;;"
        for place in places
        for option, value in place.values.items()
    ]


def _bash_value(value: Value) -> str:
    match value.kind:
        case "words":
            return f'mapfile -t COMPREPLY < <(compgen -W {quote(" ".join(value.choices))} -- "$cur"); return'
        case "folder":
            return 'mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return'
        case _:
            return "return"


def _zsh_value(value: Value) -> str:
    match value.kind:
        case "words":
            return f"compadd -- {' '.join(map(quote, value.choices))}; return"
        case "folder":
            return "_files -/; return"
        case "file":
            return "_files; return"
        case _:
            return "return"


def _listed(place: Place) -> str:
    """Return commands first, then options: the script cuts at the first hyphen unless an option is being typed."""
    first = [word.text for word in place.commands] or list(place.arguments)
    return " ".join([*first, *(word.text for word in place.options)])


def _described(place: Place) -> str:
    words = [*place.commands, *map(Word, place.arguments), *place.options]
    return " ".join(quote(f"{word.text}:{_brief(word.help)}" if word.help else word.text) for word in words)


def _fish(place: Place) -> list[str]:
    command = place.path.split()[0]
    head = f"complete -c {command} -n {quote(f'__ui_mcp_at {quote(place.path)}')}"
    lines = [f"{head} -f -a {quote(word.text)} -d {quote(_brief(word.help))}" for word in place.commands]
    lines += [f"{head} -f -a {quote(word)}" for word in place.arguments]
    for word in place.options:
        kind = "l" if word.text.startswith("--") else "s"
        takes = _fish_value(place.values.get(word.text))
        lines.append(f"{head} -{kind} {word.text.lstrip('-')}{takes} -d {quote(_brief(word.help))}")
    return lines


def _fish_value(value: Value | None) -> str:
    if value is None:
        return ""
    match value.kind:
        case "words":
            return f" -x -a {quote(' '.join(value.choices))}"
        case "folder":
            return " -x -a '(__fish_complete_directories)'"
        case "file":
            return " -r -F"
        case _:
            return " -x"


def _brief(text: str) -> str:
    """Return a help text without characters that are special in shells."""
    return re.sub(r"[':\[\]`$\\\"]", "", text.split("(", maxsplit=1)[0].split(";", maxsplit=1)[0]).strip()
