#!/bin/sh
# Print one JSON event per line as apps push them, until the server goes away.
# Usage: wait-for-state.sh BASE_URL [TIMEOUT]      BASE_URL is that of the MCP port, TIMEOUT in seconds
# Exit status 0: the server is gone. 1: it answered with an error. 2: wrong usage.
set -eu
if [ $# -lt 1 ]; then
  echo "Usage: wait-for-state.sh BASE_URL [TIMEOUT]" >&2
  exit 2
fi
url="${1%/}/wait?timeout=${2:-30}"
folder=$(dirname "$(readlink -f "$0" 2>/dev/null || echo "$0")")
# shellcheck source=scripts/request.sh
. "$folder/request.sh"

# Print the elements of the JSON array on stdin, one per line.
elements() {
  awk '{
    depth = 0; quoted = 0; element = ""
    for (i = 1; i <= length($0); i++) {
      c = substr($0, i, 1)
      if (quoted) {
        if (c == "\\") { element = element c substr($0, ++i, 1); continue }
        if (c == "\"") quoted = 0
      } else if (c == "\"") quoted = 1
      else if (c == "[" || c == "{") { if (++depth == 1) continue }
      else if (c == "]" || c == "}") { if (--depth == 0) break }
      else if (c == "," && depth == 1) { print element; element = ""; continue }
      element = element c
    }
    if (element != "") print element
    fflush()
  }'
}

work=${TMPDIR:-/tmp}/wait-for-state.$$
mkdir -m 700 "$work" # fails if it exists, so that nobody else's link is followed
trap 'rm -rf "$work"' EXIT
file=$work/answer

# Events that the server has handed over are printed before a signal ends this.
printing="" ended=""
on_signal() {
  if [ -n "$printing" ]; then ended=1; return; fi
  end_request "$file" | elements
  exit 130
}
trap on_signal INT TERM HUP

while :; do
  answer_to "$url" "$folder/../mcp-token" "$file" || { [ $? -lt 126 ] && exit 0; exit 1; }
  case $(tail -n 1 "$file") in
    200)
      printing=1
      sed '$d' "$file" | elements
      : >"$file"
      printing=""
      [ -z "$ended" ] || exit 130
      ;;
    204) ;;
    404) exit 0 ;; # the session has ended with its server
    *) exit 1 ;;
  esac
done
