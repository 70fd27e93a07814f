"""A small OpenAI server on uvicorn and FastAPI, as engines written in Python are.

python3 stub_server.py [SECONDS] prints its URL. It closes connections that have been idle for that
time; the default is 5, as in uvicorn. Answers repeat the words of the last message, after a short pause for each word.
"""

import asyncio
import json
import socket
import sys
import time

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, StreamingResponse

MODEL = "stub"
WORD_SECONDS = 0.001

app = FastAPI()


@app.get("/health")
async def health():
    return PlainTextResponse("")


@app.get("/v1/models")
async def models():
    model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "kvasir"}
    return {"object": "list", "data": [model]}


def completion(kind, choice, usage=None):
    body = {
        "id": "chatcmpl-stub",
        "object": kind,
        "created": int(time.time()),
        "model": MODEL,
        "choices": [] if choice is None else [{"index": 0, **choice}],
    }
    return body if usage is None else {**body, "usage": usage}


def event(choice, usage=None):
    return f"data: {json.dumps(completion('chat.completion.chunk', choice, usage))}\n\n"


async def stream(words, usage):
    yield event({"delta": {"role": "assistant", "content": ""}, "finish_reason": None})
    for number, word in enumerate(words):
        await asyncio.sleep(WORD_SECONDS)
        text = word if number == 0 else f" {word}"
        yield event({"delta": {"content": text}, "finish_reason": None})
    yield event({"delta": {}, "finish_reason": "stop"})
    if usage is not None:
        yield event(None, usage)
    yield "data: [DONE]\n\n"


@app.post("/v1/chat/completions")
async def chat(request: Request):
    body = await request.json()
    if body.get("model") != MODEL:
        error = {"message": "no such model", "type": "invalid_request_error", "param": "model"}
        return JSONResponse({"error": error}, status_code=404)
    words = body["messages"][-1]["content"].split()
    usage = {
        "prompt_tokens": len(words),
        "completion_tokens": len(words),
        "total_tokens": 2 * len(words),
    }
    if body.get("stream"):
        asked = (body.get("stream_options") or {}).get("include_usage")
        events = stream(words, usage if asked else None)
        return StreamingResponse(events, media_type="text/event-stream")
    await asyncio.sleep(WORD_SECONDS * len(words))
    message = {"role": "assistant", "content": " ".join(words)}
    return completion("chat.completion", {"message": message, "finish_reason": "stop"}, usage)


def main():
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    idle = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    config = uvicorn.Config(app, timeout_keep_alive=idle, log_level="warning", access_log=False)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
