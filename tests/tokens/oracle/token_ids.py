"""Tokenizes with Hugging Face's own package: reads requests as JSON lines {"file", "texts",
"special"}, and answers each with {"ids"}, a list for each text."""

import json
import sys

import tokenizers

OPENED = {}


def opened(file):
    if file not in OPENED:
        OPENED[file] = tokenizers.Tokenizer.from_file(file)
        OPENED[file].no_truncation()
        OPENED[file].no_padding()
    return OPENED[file]


for line in sys.stdin:
    request = json.loads(line)
    encoded = [
        opened(request["file"]).encode(text, add_special_tokens=request["special"]).ids
        for text in request["texts"]
    ]
    print(json.dumps({"ids": encoded}), flush=True)
