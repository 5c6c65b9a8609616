#!/usr/bin/env python3
"""Receives Toolcrib's webhooks, verifies their signatures, and prints one line for each message.

    WEBHOOK_SECRET=whsec_... python3 examples/webhook_receiver.py [PORT]

The default port 0 picks a free port; the first line of output shows it. Needs only Python 3.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Refuse older messages, because they may be replays.
TOLERANCE_SECONDS = 5 * 60


def verify(secret: str, headers, body: bytes) -> None:
    """Raises ValueError unless `body` was recently signed with `secret`."""
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("the timestamp is missing, or too far from now")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # The header can contain several signatures, separated by spaces.
    for signature in headers.get("webhook-signature", "").split(" "):
        version, _, value = signature.partition(",")
        if version == "v1" and hmac.compare_digest(value, expected):
            return
    raise ValueError("the signature does not match")


class Receiver(BaseHTTPRequestHandler):
    # Keeps connections open between messages.
    protocol_version = "HTTP/1.1"
    secret = ""
    # A message can arrive more than once. A real receiver stores the ids durably.
    seen: set[str] = set()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            verify(self.secret, self.headers, body)
        except ValueError as error:
            self.answer(401, str(error))
            print(f"refused: {error}", flush=True)
            return
        message = json.loads(body)
        # Answer first and process later, because the sender retries after ten seconds.
        self.answer(204, "")
        if message["id"] in self.seen:
            return
        self.seen.add(message["id"])
        data = message["data"]
        what = data.get("verb") or data.get("entityId") or "-"
        rest = data.get("outcome") or data.get("error", {}).get("message") or ("denied" if data.get("denied") else "")
        print(f'{message["sequenceNumber"]} {message["type"]} {what} {rest}'.rstrip(), flush=True)

    def answer(self, status: int, text: str) -> None:
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        if status != 204:
            self.wfile.write(text.encode())

    def log_message(self, *_) -> None:
        """Do not log requests, because the messages are printed."""


def main() -> None:
    Receiver.secret = os.environ.get("WEBHOOK_SECRET", "")
    if not Receiver.secret:
        sys.exit("set WEBHOOK_SECRET to what `toolcrib webhook add` printed")
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    server = ThreadingHTTPServer(("127.0.0.1", port), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
