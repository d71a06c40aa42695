"""The other side of the wire, with nothing of ours: PyNaCl, rfc8785 and the standard library.

Reads one JSON object from standard input: a hint, an ACK and a submission as texts, and the public keys that should
have signed the first two. Writes one: whether each verifies, the content hash of the submission, and a hint and an ACK
of its own with their public keys.
"""

import base64
import hashlib
import json
import sys

import rfc8785
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

SIGNED = ["specversion", "type", "id", "source", "subject", "time", "datacontenttype"]


def b64(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def wake_bytes(event):
    signed = {name: event[name] for name in SIGNED}
    signed["data"] = {name: value for name, value in event["data"].items() if name != "signature"}
    return b"awakener-wake-v1\n" + rfc8785.dumps(signed)


def ack_bytes(statement):
    return b"awakener-ack-v1\n" + rfc8785.dumps(statement)


def verifies(public, message, signature):
    name, _, raw = signature.partition(":")
    assert name == "ed25519", signature
    try:
        VerifyKey(unb64(public)).verify(message, unb64(raw))
        return True
    except BadSignatureError:
        return False


def digest(key):
    return hashlib.sha256(key.verify_key.encode()).hexdigest()


def sign(key, message):
    return "ed25519:" + b64(key.sign(message).signature)


def own_hint(key):
    event = {
        "specversion": "1.0",
        "type": "org.ming-qiao.agent.wake.requested.v1",
        "id": "019f0a1b-2c3d-7e4f-8a5b-aaaaaaaaaaaa",
        "source": "urn:ming-qiao:router:" + digest(key),
        "subject": "agent/mataya-dyad",
        "time": "2026-08-17T12:00:00.500Z",
        "datacontenttype": "application/json",
        "comment": "ignored: \u00e9 \U0001f600",
        "data": {
            "message_id": "019f0a1b-2c00-7abc-9def-0123456789ab",
            "target": "mataya-dyad",
            "nonce": b64(bytes(range(16))),
            "freshness_token": 9007199254740991,
            "expires_at": "2026-08-17T12:00:30.500Z",
            "router_key_id": "sha256:" + digest(key),
        },
    }
    event["data"]["signature"] = sign(key, wake_bytes(event))
    return json.dumps(event, indent=2)


def own_ack(key):
    statement = {
        "v": 1,
        "message_id": "019f0a1b-2c00-7abc-9def-0123456789ab",
        "content_sha256": "sha256:" + hashlib.sha256(b"content").hexdigest(),
        "target": "mataya-dyad",
        "outcome": "declined",
        "by": "human",
        "key_id": "sha256:" + digest(key),
        "time": "2026-08-17T12:00:05Z",
    }
    return json.dumps({"statement": statement, "signature": sign(key, ack_bytes(statement))})


def content_hash(submission):
    content = {name: value for name, value in submission.items() if name not in ("id", "from")}
    return "sha256:" + hashlib.sha256(rfc8785.dumps(content)).hexdigest()


def main():
    asked = json.load(sys.stdin)
    hint = json.loads(asked["hint"])
    ack = json.loads(asked["ack"])
    router, agent = SigningKey(b"\x21" * 32), SigningKey(b"\x22" * 32)
    json.dump(
        {
            "hint_verifies": verifies(asked["router"], wake_bytes(hint), hint["data"]["signature"]),
            "ack_verifies": verifies(asked["agent"], ack_bytes(ack["statement"]), ack["signature"]),
            "content_sha256": content_hash(json.loads(asked["submission"])),
            "hint": own_hint(router),
            "router": b64(router.verify_key.encode()),
            "ack": own_ack(agent),
            "agent": b64(agent.verify_key.encode()),
        },
        sys.stdout,
    )


main()
