"""Web push: the vectors of RFC 8291, another implementation, signatures, and which services are spoken to."""

from base64 import urlsafe_b64decode
from pathlib import Path

import http_ece
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.inbox.phone.devices import Subscription
from ui_mcp.inbox.phone.webpush import MAX_MESSAGE, VapidKey, check_subscription, decoded, encoded, encrypted
from ui_mcp.phone_settings import PUSH_SERVICES

# RFC 8291, section 5 and appendix A.
PLAIN = b"When I grow up, I want to be a watermelon"
SENDER_PRIVATE = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
RECEIVER_PRIVATE = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
RECEIVER_PUBLIC = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A"
    "_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)
SUBSCRIPTION = Subscription("https://fcm.googleapis.com/wp/1", RECEIVER_PUBLIC, AUTH)


def key_of(private: str) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(decoded(private), "big"), ec.SECP256R1())


@pytest.mark.covers("INBOX-11")
def test_the_example_of_the_standard_is_encrypted_to_the_byte() -> None:
    body = encrypted(PLAIN, SUBSCRIPTION, salt=decoded(SALT), own=key_of(SENDER_PRIVATE), padded=1)

    assert encoded(body) == BODY


@pytest.mark.covers("INBOX-11")
@given(st.binary(max_size=MAX_MESSAGE))
def test_another_implementation_reads_every_message(message: bytes) -> None:
    body = encrypted(message, SUBSCRIPTION)

    assert http_ece.decrypt(body, private_key=key_of(RECEIVER_PRIVATE), auth_secret=decoded(AUTH)) == message


def test_the_length_of_a_message_says_nothing_and_no_two_are_alike() -> None:
    short, long = encrypted(b"no", SUBSCRIPTION), encrypted(b"x" * 500, SUBSCRIPTION)

    assert len(short) == len(long)
    assert short != encrypted(b"no", SUBSCRIPTION)
    with pytest.raises(ValueError, match="2048"):
        encrypted(b"x" * 2049, SUBSCRIPTION)


@pytest.mark.covers("INBOX-11")
def test_a_push_service_recognises_the_sender_and_the_key_stays(tmp_path: Path) -> None:
    file = tmp_path / "phone" / "vapid.pem"
    key, again = VapidKey.kept_in(file), VapidKey.kept_in(file)
    scheme, token, public = key.authorization(SUBSCRIPTION.endpoint, "https://phone.example", 1000.0).split(" ", 2)
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(public.removeprefix("k=")))
    claims = jwt.decode(
        token.removeprefix("t=").rstrip(","), point, ["ES256"], audience="https://fcm.googleapis.com",
        options={"verify_exp": False},
    )  # fmt: skip

    assert (scheme, public) == ("vapid", f"k={again.public}")
    assert claims == {"aud": "https://fcm.googleapis.com", "exp": 1000 + 43_200, "sub": "https://phone.example"}
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.covers("INBOX-11")
@pytest.mark.parametrize(
    "endpoint",
    [
        "https://fcm.googleapis.com/fcm/send/abc",
        "https://updates.push.services.mozilla.com/wpush/v2/abc",
        "https://web.push.apple.com/QAbc",
        "https://wns2-par02p.notify.windows.com/w/?token=abc",
    ],
)
def test_the_services_of_browser_makers_are_known(endpoint: str) -> None:
    check_subscription(Subscription(endpoint, RECEIVER_PUBLIC, AUTH), PUSH_SERVICES)


@pytest.mark.covers("INBOX-11")
@pytest.mark.parametrize(
    "endpoint",
    [
        "http://fcm.googleapis.com/fcm/send/abc",
        "https://127.0.0.1/",
        "https://169.254.169.254/latest",
        "https://fcm.googleapis.com.evil.example/",
        "https://evilpush.apple.com/",
        "https://push.apple.com/",
        "https://fcm.googleapis.com:8443/",
        "https://fcm.googleapis.com@evil.example/",
        "https://user@fcm.googleapis.com/",
        "https://fcm.googleapis.com:port/",
        "file:///etc/passwd",
        "",
    ],
)
def test_nothing_is_sent_to_any_other_address(endpoint: str) -> None:
    with pytest.raises(InvalidArgumentsError):
        check_subscription(Subscription(endpoint, RECEIVER_PUBLIC, AUTH), PUSH_SERVICES)


@pytest.mark.parametrize(
    ("p256dh", "auth"),
    [
        ("", AUTH),
        ("BCVx", AUTH),
        (encoded(b"\4" + bytes(64)), AUTH),
        (RECEIVER_PUBLIC, ""),
        (RECEIVER_PUBLIC, "BTBZ"),
        ("ü", AUTH),
    ],
)
def test_keys_that_cannot_be_used_are_refused_at_once(p256dh: str, auth: str) -> None:
    with pytest.raises(InvalidArgumentsError):
        check_subscription(Subscription(SUBSCRIPTION.endpoint, p256dh, auth), PUSH_SERVICES)


def test_texts_are_read_with_and_without_padding() -> None:
    assert decoded("AQ") == decoded("AQ==") == urlsafe_b64decode("AQ==") == b"\1"
