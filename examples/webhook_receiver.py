#!/usr/bin/env python3
"""Receives Toolcrib's webhooks, verifies their signatures, and prints one line for each message.

    WEBHOOK_SECRET=whsec_... python3 examples/webhook_receiver.py [PORT]

Port 0, the default, picks a free one; the first line says which. Nothing but Python 3 is needed.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Older messages are somebody's recording.
TOLERANCE_SECONDS = 5 * 60


def verify(secret: str, headers, body: bytes) -> None:
    """Raises ValueError unless `body` was signed with `secret` a short while ago."""
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("the timestamp is missing, or too far from now")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # Several signatures may stand there, with spaces between them.
    for signature in headers.get("webhook-signature", "").split(" "):
        version, _, value = signature.partition(",")
        if version == "v1" and hmac.compare_digest(value, expected):
            return
    raise ValueError("the signature is not that of the secret")


class Receiver(BaseHTTPRequestHandler):
    # Keeps connections open between messages.
    protocol_version = "HTTP/1.1"
    secret = ""
    # A message may arrive more than once. A real receiver keeps the ids where they outlive it.
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
        # Answer first, work afterwards: the sender waits ten seconds, then sends it again.
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
        """The messages themselves are printed; requests need not be."""


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
