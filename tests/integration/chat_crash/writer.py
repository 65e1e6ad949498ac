"""Posts numbered messages over HTTP until each is acknowledged: `writer.py URL NAME FIRST LAST`.

Every message is repeated under its own client id until an answer comes, so that a server killed in between
neither loses nor doubles it. The acknowledged ids are printed, one line each.
"""

import http.client
import json
import os
import sys
import time
import urllib.request

HUMAN = {"Authorization": f"Bearer {os.environ['CHAT_TOKEN']}"}


def post(url: str, text: str) -> str:
    body = json.dumps({"content": text, "client_id": text}).encode()
    request = urllib.request.Request(f"{url}/chat/messages", body, {"Content-Type": "application/json", **HUMAN})
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return str(json.load(answer)["id"])
        except (OSError, ValueError, http.client.HTTPException):  # killed before, while or after it answered
            time.sleep(0.05)


url, name, first, last = sys.argv[1:]
for number in range(int(first), int(last)):
    text = f"{name} {number}"
    print(json.dumps([post(url, text), text]), flush=True)
