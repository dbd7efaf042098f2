"""A stand-in for a server, which says of each question of ``pipeline_made`` what a test tells it to, at any length."""

import json

from freshstack_datasets.llm.seams import Raw

TITLES = {"q1": "Why are jobs run twice?", "q2": "Where do results go?", "q3": "How to await", "q4": "mobile app"}


def asked_of(request):
    """The question that a call is about, by the title that its first user message holds."""
    said = next(message.content for message in request.messages if message.role == "user")
    return next(query_id for query_id, title in TITLES.items() if title in said)


def saying(*texts):
    return json.dumps({"nuggets": list(texts)})


class Server:
    """Says by question what it is told to, one after the other, and remembers what was asked."""

    endpoint, stand_in = "stand-in", True

    def __init__(self, replies=None, usual="", input_tokens=10):
        self._replies = {query_id: list(several) for query_id, several in (replies or {}).items()}
        self._usual = usual or saying("Foo is new.")
        self._input_tokens = input_tokens
        self.requests = []

    async def send(self, request):
        self.requests.append(request)
        left = self._replies.get(asked_of(request))
        reply = self._usual if left is None else left.pop(0) if len(left) > 1 else left[0]
        if isinstance(reply, Raw):
            return reply
        text, finish = reply if isinstance(reply, tuple) else (reply, "stop")
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
        body = {
            "model": "m",
            "choices": [choice],
            "usage": {"prompt_tokens": self._input_tokens, "completion_tokens": 5},
        }
        return Raw(200, {}, json.dumps(body).encode())

    async def close(self):
        pass

    def hide(self, text):
        return text
