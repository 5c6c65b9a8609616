"""Verifies an exported audit trail without Toolcrib: verify_audit.py LOG JWKS [CHECKPOINT]

It follows docs/audit-format.md and shares no code with the server. Ed25519 comes from the package `cryptography`. Canonical JSON
(RFC 8785) is implemented here, with `json` for strings and `repr` for the digits of a double. Exit code 0: valid. 1: broken."""
import base64, datetime, decimal, hashlib, json, pathlib, re, sys
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

SEAL, OPTIONAL = {"prevHash", "entryHash", "signature", "kid"}, {"actorId", "entityType", "entityId", "requestId"}
TEXTS = {"id", "workspaceId", "occurredAt", "eventType", "actorType"} | SEAL
SAFE, GENESIS, PRIME = 2**53 - 1, "0" * 64, 2**255 - 19
EIGHTH = int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little")

def need(condition, why):
    if not condition: raise ValueError(why)

def unique(pairs):
    need(len(dict(pairs)) == len(pairs), "a member occurs twice")
    return dict(pairs)

def canonical(value, depth=0):
    need(depth <= 64 or not isinstance(value, (dict, list)), "nested too deep")
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(inner, depth + 1) for name, inner in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(inner, depth + 1) for inner in value) + "]"
    if type(value) not in (int, float):
        return json.dumps(value, ensure_ascii=False)
    if abs(value) <= SAFE and value == int(value):
        return str(int(value))
    value = float(value)
    need(abs(value) <= SAFE or 1e21 <= abs(value) < float("inf"), "an integer beyond 2^53 - 1, or no double")
    return format(decimal.Decimal(repr(value)), "f" if 1e-6 <= abs(value) < 1e21 else "e")

def decode(text, length):
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    need(len(raw) == length and base64.urlsafe_b64encode(raw).decode().rstrip("=") == text, f"no base64url of {length} bytes")
    y = int.from_bytes(raw[:32], "little") % 2**255  # Of a key, or of a signature's R: a point of full order in its one spelling.
    need(y < PRIME and y not in (0, 1, PRIME - 1, EIGHTH, PRIME - EIGHTH), "a point of small order")
    return raw

def thumbprint(x):
    digest = hashlib.sha256(b'{"crv":"Ed25519","kty":"OKP","x":"%s"}' % base64.urlsafe_b64encode(decode(x, 32)).rstrip(b"="))
    return base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=")

def check_signature(keys, signed, time, message):
    need(signed["kid"] in keys, f"unknown key {signed['kid']}")
    moment, key = datetime.datetime.fromisoformat(time[:-1] + "+00:00"), keys[signed["kid"]]
    need(moment.isoformat(timespec="milliseconds")[:-6] + "Z" == time and moment.year >= 1970, f"{time} is no time")
    revoked = key.get("revoked") or {"revoked_at": float("inf")}
    need(moment.timestamp() < revoked["revoked_at"] + 1, f"later than the revocation of {signed['kid']}")
    Ed25519PublicKey.from_public_bytes(decode(key["x"], 32)).verify(decode(signed["signature"], 64), message)

def verify(log, keys, checkpoint, at):
    first, kid, at["next"] = None, None, 1
    heads = {checkpoint["size"]: checkpoint["headHash"]} if checkpoint else {}
    for at["line"], raw in filter(lambda line: line[1].strip(b" \t\r\n"), enumerate(log, 1)):
        entry = json.loads(raw.decode(), object_pairs_hook=unique) if len(raw.removesuffix(b"\n")) <= 2**20 else {}
        need(set(entry) == TEXTS | OPTIONAL | {"sequenceNumber", "payload"}, "not the members of an entry")
        need(all(type(entry[name]) is str or (name in OPTIONAL and entry[name] is None) for name in TEXTS | OPTIONAL), "no text")
        number, payload = entry["sequenceNumber"], entry["payload"]
        need(type(number) is int and 1 <= number <= SAFE, "no sequence number")
        if first is None:  # A trail may begin after its beginning, if a checkpoint or a later entry vouches for that.
            first = at["next"] = number
            workspace = checkpoint["workspaceId"] if checkpoint else entry["workspaceId"]
            head = before = GENESIS if first == 1 else entry["prevHash"]
            vouched = first == 1 or first - 1 in heads
            need(heads.get(first - 1, head) == head, "the checkpoint has another hash before it")
        need(entry["workspaceId"] == workspace and number == at["next"], f"{number} of {entry['workspaceId']} stands here")
        need(entry["prevHash"] == head and re.fullmatch("[0-9a-f]{64}", head), "prevHash is not the entryHash before it")
        digest = hashlib.sha256((canonical({name: entry[name] for name in entry.keys() - SEAL}) + head).encode())
        need(entry["entryHash"] == digest.hexdigest(), "entryHash is not the hash of the event")
        need(kid in (None, entry["kid"]), f"the key changed to {entry['kid']} without an announcement")
        check_signature(keys, entry, entry["occurredAt"], digest.digest())
        kid, head = entry["kid"], entry["entryHash"]
        need(heads.get(number, head) == head, "the checkpoint has another hash here")
        if entry["eventType"] == "audit.key_rotated":
            need(payload["oldKid"] == kid and payload["newKid"] == thumbprint(payload["newKey"]), "no good announcement of a key")
            kid = payload["newKid"]
        elif entry["eventType"] == "audit.pruned":
            through, gone = payload["throughSequence"], payload["headHash"]
            vouched |= through >= first or (through == first - 1 and gone == before)
        at["next"] += 1
    at.update(line=None, next=first if first and not vouched else at["next"])
    need(not first or vouched, "the entries before it are missing")
    need(all(size < at["next"] for size in heads), "the tail was cut off: the checkpoint counts more entries")
    return at["next"] - (first or 1)

at, checkpoint = {"line": None, "next": "the checkpoint"}, None
try:
    listed = [key for key in json.loads(pathlib.Path(sys.argv[2]).read_bytes())["keys"] if key.get("crv") == "Ed25519"]
    keys = {key["kid"]: key for key in listed if key.get("use", "sig") == "sig" and thumbprint(key["x"]) == key["kid"]}
    if len(sys.argv) > 3:
        checkpoint = json.loads(pathlib.Path(sys.argv[3]).read_bytes(), object_pairs_hook=unique)
        rest = canonical({name: checkpoint[name] for name in checkpoint.keys() - {"signature"}})
        check_signature(keys, checkpoint, checkpoint["at"], rest.encode())
        need(checkpoint["size"] > 0 or checkpoint["headHash"] == GENESIS, "a hash of no entry")
    print("valid:", verify(open(sys.argv[1], "rb"), keys, checkpoint, at), "entries")
except Exception as error:
    sys.exit(f"broken at {at['next']}, line {at['line']}: {type(error).__name__} {error}")
