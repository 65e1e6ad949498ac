# Read by the scripts of this directory: asks the running server, with curl or else with python3.

# Print the address of the server that runs the directory given.
address_of() {
  if [ ! -r "$1/mcp-port" ]; then
    echo "No server runs for $1: call ui_start, or run \`ui-mcp serve\`" >&2
    return 1
  fi
  echo "http://127.0.0.1:$(cat "$1/mcp-port")"
}

# ask METHOD URL [TOKEN_FILE [NAME=VALUE ...]]: print the body, then the HTTP status on a line of its own; fail without
# an answer. It becomes the program that asks, so that a signal reaches it: call it in $(…) or in the background only.
ask() {
  method=$1 url=$2 token=""
  if [ -n "${3:-}" ] && [ -r "$3" ]; then token=$(cat "$3"); fi
  if [ $# -gt 3 ]; then shift 3; else shift $#; fi
  if command -v curl >/dev/null 2>&1; then
    if [ "$method" = POST ]; then
      for pair in "$@"; do
        shift
        set -- "$@" --data-urlencode "$pair"
      done
      [ $# -gt 0 ] || set -- --data ""
      set -- --header "X-Ui-Mcp: 1" "$@"
    fi
    [ -z "$token" ] || token="header = \"Authorization: Bearer $token\""
    # The token goes through stdin: arguments are visible to other users.
    exec curl --silent --noproxy '*' --max-time 180 --write-out '\n%{http_code}\n' --config - "$@" "$url" <<END
$token
END
  elif command -v python3 >/dev/null 2>&1; then
    TOKEN=$token
    export TOKEN
    exec python3 -c '
import os, sys, urllib.error, urllib.parse, urllib.request
method, url, *pairs = sys.argv[1:]
data = urllib.parse.urlencode([pair.partition("=")[::2] for pair in pairs]).encode() if method == "POST" else None
request = urllib.request.Request(url, data, {"X-Ui-Mcp": "1"})
if os.environ["TOKEN"]:
    request.add_header("Authorization", "Bearer " + os.environ["TOKEN"])
try:
    answer = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=180)
except urllib.error.HTTPError as error:
    answer = error
except OSError:
    sys.exit(7)
sys.stdout.buffer.write(answer.read() + b"\n%d\n" % answer.status)
' "$method" "$url" "$@"
  else
    echo "Neither curl nor python3 is here" >&2
    return 127
  fi
}

# answer_to URL TOKEN_FILE FILE: get, into FILE; meanwhile a signal runs the caller's trap at once.
answer_to() {
  ask GET "$1" "$2" >"$3" &
  echo "$!" >"$3.pid"
  wait "$!"
}

# End the request that waits, so that its events stay with the server, and print those that have arrived in FILE.
end_request() {
  request=${!:-} # known from the start: a signal may come before a variable of answer_to is set
  if [ -n "$request" ]; then
    kill "$request" 2>/dev/null || true
    wait "$request" 2>/dev/null || true
  fi
  if [ "$(tail -n 1 "$1" 2>/dev/null)" = 200 ]; then sed '$d' "$1"; fi
}

# post URL TOKEN_FILE [NAME=VALUE ...]: call a tool; print its answer, or report its error on stderr and fail.
post() {
  answer=$(ask POST "$@") || { echo "No answer from $1" >&2; return 1; }
  case $(printf '%s\n' "$answer" | tail -n 1) in
    200) printf '%s\n' "$answer" | sed '$d' ;;
    *) printf '%s\n' "$answer" | sed '$d' >&2; return 1 ;;
  esac
}

# show URL [TOKEN_FILE]: print the body of a good answer; report any other on stderr and fail.
show() {
  answer=$(ask GET "$1" "${2:-}") || { echo "No answer from $1" >&2; return 1; }
  status=$(printf '%s\n' "$answer" | tail -n 1)
  case $status in
    200) printf '%s\n' "$answer" | sed '$d' ;;
    *) printf '%s\n' "$answer" | sed '$d' >&2; echo "HTTP status $status from $1" >&2; return 1 ;;
  esac
}
