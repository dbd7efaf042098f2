"""Secrets of known forms, made of parts when they are asked for, so that none stands in this repository."""

import base64
import json
import random
import string
import zlib

LETTERS = string.ascii_letters + string.digits
BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase


def letters(rng, count, of=LETTERS):
    return "".join(rng.choice(of) for _ in range(count))


def base64_of(rng, count):
    return base64.b64encode(rng.randbytes(count)).decode()


def github_token(rng):
    """As GitHub makes them: 30 letters and their CRC 32 in base 62."""
    body = letters(rng, 30)
    number, check = zlib.crc32(body.encode()), ""
    while number:
        number, digit = divmod(number, 62)
        check = BASE62[digit] + check
    return "gh" + "p_" + body + check.rjust(6, "0")


def jwt(rng):
    parts = (b'{"alg":"HS256","typ":"JWT"}', json.dumps({"sub": letters(rng, 12)}).encode(), rng.randbytes(32))
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


def private_key(rng, kind="RSA ", lines=24):
    body = "\n".join(base64_of(rng, 48) for _ in range(lines))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"


def secrets(seed=7):
    """From a name to the kind it is found as, a text with the secret, and the secret itself."""
    rng = random.Random(seed)
    upper, digits = string.ascii_uppercase + "234567", string.digits

    def of(kind, secret, text="{}"):
        return kind, text.replace("{}", secret), secret

    return {
        "AWS pair": of("aws-access-token", base64_of(rng, 30), f"id = AKIA{letters(rng, 16, upper)}\nkey = {{}}\n"),
        "GitHub": of("github-pat", github_token(rng), "Log in with {} and see."),
        "Slack": of(
            "slack-bot-token", "xo" + f"xb-{letters(rng, 12, digits)}-{letters(rng, 12, digits)}-{letters(rng, 24)}"
        ),
        "Stripe": of("stripe-access-token", "sk" + f"_live_{letters(rng, 24)}", 'stripe.api_key = "{}"'),
        "OpenAI": of("openai-api-key", "sk-" + f"proj-{letters(rng, 74)}T3Blbk" + f"FJ{letters(rng, 74)}"),
        "Google": of("gcp-api-key", "AI" + f"zaSy{letters(rng, 33)}", 'src="https://maps.acme.io/js?key={}"'),
        "GitLab": of("gitlab-pat", "gl" + f"pat-{letters(rng, 20)}"),
        "JWT": of("jwt", jwt(rng), "Authorization: Bearer {}"),
        "RSA": of("private-key", private_key(rng)),
        "OpenSSH": of("private-key", private_key(rng, "OPENSSH ")),
        "address": of("generic-credential-uri", letters(rng, 18), "https://deploy:{}@registry.acme.io/images"),
        "database": of(
            "generic-credential-uri", letters(rng, 18), "DATABASE_URL=postgres://app:{}@db.acme.io:5432/app"
        ),
        "curl": of("curl-auth-user", letters(rng, 18), "curl -u admin:{} https://acme.io/api"),
        "password": of("assigned-secret", letters(rng, 18) + "42", 'DB_PASSWORD = "{}"'),
        "setting": of("assigned-secret", letters(rng, 18) + "42", "database:\n  password: {}\n"),
        "token": of("assigned-secret", letters(rng, 38) + "42", "ACME_API_TOKEN={}"),
    }


def look_alikes(seed=8):
    """From a name to a text that only looks like one with a secret."""
    rng = random.Random(seed)
    hexadecimal = "0123456789abcdef"
    return {
        "commit": "at " + letters(rng, 40, hexadecimal),
        "SHA-256": "sha256:" + letters(rng, 64, hexadecimal),
        "integrity": f'"integrity": "sha512-{base64_of(rng, 64)}"',
        "UUID": "id = 123e4567-e89b-12d3-a456-426614174000",
        "image": f'<img src="data:image/png;base64,{base64_of(rng, 3000)}">',
        "public key": f"-----BEGIN PUBLIC KEY-----\n{base64_of(rng, 48)}\n-----END PUBLIC KEY-----",
        "shouted": "OPENAI_API_KEY=YOUR_API_KEY",
        "dots": 'export OPENAI_API_KEY="sk-..."',
        "angles": 'api_key="<your-api-key>"',
        "crosses": "token = gh" + "p_" + "x" * 36,
        "variable": "token: ${GITHUB_TOKEN}",
        "environment": 'password = os.environ["DB_PASSWORD"]',
        "call": 'password = get_password("production-database-1")',
        "documented": "AWS_ACCESS_KEY_ID=AKIA" + "IOSFODNN7EXAMPLE",
        "named password": "postgres://user:password@localhost:5432/db",
        "same word": "amqp://guest:guest@localhost",
        "to be changed": "redis://:change_me@cache:6379",
        "attribute": "config.token_id = self.config.t2u_pad_token_id",
    }
