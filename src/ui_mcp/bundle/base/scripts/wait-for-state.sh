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

while :; do
  answer=$(get "$url" "$folder/../mcp-token") || { [ $? -lt 126 ] && exit 0; exit 1; }
  status=$(printf '%s\n' "$answer" | tail -n 1)
  case $status in
    200) printf '%s\n' "$answer" | sed '$d' | elements ;;
    204) ;;
    *) exit 1 ;;
  esac
done
