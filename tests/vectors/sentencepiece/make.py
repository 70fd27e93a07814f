#!/usr/bin/python3
"""Trains two small SentencePiece models as Llama 2's was, and writes the ids of mixed texts by SentencePiece itself.

Needs Debian's python3-sentencepiece. Run in this folder; the files that it wrote are committed."""
import json
import random
import sentencepiece

random.seed(20261129)
WORDS = """the of and to in a is that for it with as on be at by this from or have an which one we can were all their has been if more
when will would who so no out up into than them some could time these two may then do first any my now such like our over man me even most
made after also did many before must through back years where much your way well down should because each just those people too cache
block prefix request token worker rank prefill decode router hello world""".split()
OTHERS = ["\u4f60\u597d", "\u4e16\u754c", "\u3053\u3093\u306b\u3061\u306f", "\u043f\u0440\u0438\u0432\u0435\u0442", "caf\u00e9", "na\u00efve",
          "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u0645\u0631\u062d\u0628\u0627", "e\u0301", "\u00a0", "\ufb01", "\u2581",
          "1234", "3.14", "0x1F", "foo_bar", "camelCase", "def f(x):\n    return x", "{\"a\": [1, 2]}", "\t", "  ", "   ", "\n", "\n\n", "\r\n", "!?", "...",
          "http://a.b/c?d=e&f", "<|x|>", "[INST]", "<b>", "&amp;", "\u20ac", "\u0007", "\ud7ff", "\ue000", "\U0010ffff"]


def text(mixed):
    parts = []
    for _ in range(random.randint(1, 24)):
        parts.append(random.choice(OTHERS) if random.random() < mixed else random.choice(WORDS))
        parts.append(random.choice([" ", " ", " ", " ", "", "  ", "\n"]))
    return "".join(parts)


corpus = [text(0.1).replace("\n", " ") for _ in range(4000)]
texts = ["", " ", "  ", "a", " a", "a ", "\n", " \n ", "Hello world", "  leading", "trailing  ", "\u2581"] + [text(0.4) for _ in range(150)]
ids = {}
for kind in ["bpe", "unigram"]:
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus), model_prefix=kind, model_type=kind, vocab_size=700, byte_fallback=True, split_digits=True,
        normalization_rule_name="identity", remove_extra_whitespaces=False, allow_whitespace_only_pieces=True, character_coverage=0.9995,
        minloglevel=2)
    ids[kind] = sentencepiece.SentencePieceProcessor(model_file=kind + ".model").encode(texts)
with open("ids.json", "w", encoding="utf-8") as out:
    out.write('{"texts":' + json.dumps(texts) + "".join(',\n"%s":%s' % (kind, json.dumps(of).replace(" ", "")) for kind, of in ids.items()) + "}\n")
