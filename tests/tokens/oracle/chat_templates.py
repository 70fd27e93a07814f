"""Renders chat templates with Jinja, in the environment that Hugging Face's transformers builds.

serve    reads requests as JSON lines {"template", "variables"} and answers each with {"text"},
         {"refused"} (does not compile) or {"error"} (fails when it is rendered)
vectors  reads templates and conversations from a folder and writes chat-templates.json
"""

import datetime
import json
import pathlib
import sys

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = datetime.datetime(2024, 2, 5, 9, 7, 3, 45)


class Generation(Extension):
    """The block that marks what the assistant wrote; it renders its body."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(
        x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def strftime_now(format):
    return NOW.strftime(format)


def environment():
    made = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[Generation, jinja2.ext.loopcontrols],
    )
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = strftime_now
    return made


ENVIRONMENT = environment()
COMPILED = {}


def answer(template, variables):
    if template not in COMPILED:
        if len(COMPILED) > 2000:
            COMPILED.clear()
        try:
            COMPILED[template] = ENVIRONMENT.from_string(template)
        except Exception as refused:
            COMPILED[template] = {"refused": f"{type(refused).__name__}: {refused}"}
    compiled = COMPILED[template]
    if isinstance(compiled, dict):
        return compiled
    try:
        return {"text": compiled.render(**variables)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def limit_memory():
    """Where the system can, as some cannot."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    except (ImportError, AttributeError, ValueError, OSError) as refused:
        print(f"no limit of memory: {refused}", file=sys.stderr)


def serve():
    limit_memory()
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(answer(request["template"], request["variables"])), flush=True)


def vectors(folder):
    folder = pathlib.Path(folder)
    conversations = json.loads((folder / "conversations.json").read_text(encoding="utf-8"))
    answers = {}
    for path in sorted(folder.glob("*.jinja")):
        template = path.read_text(encoding="utf-8")
        answers[path.stem] = {name: answer(template, made) for name, made in conversations.items()}
    text = json.dumps(answers, indent=1, ensure_ascii=True) + "\n"
    (folder / "answers.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    serve() if sys.argv[1] == "serve" else vectors(sys.argv[2])
