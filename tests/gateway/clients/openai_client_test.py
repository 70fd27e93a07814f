"""Kvasir's OpenAI API through the official Python client.

    KVASIR_URL=http://127.0.0.1:8080 KVASIR_METRICS=URL[,URL] python3 openai_client_test.py

KVASIR_METRICS: the /metrics pages whose counts of running requests add up to those of the server,
in the names of vLLM (an engine's page) or of Kvasir (a gateway's admin port).
KVASIR_WITHOUT: APIs that the server does not have, of responses and messages, comma-separated.
"""

import asyncio
import json
import os
import re
import time
import unittest
import urllib.error
import urllib.request

try:
    import openai
except ImportError:
    openai = None

URL = os.environ.get("KVASIR_URL", "")
METRICS = [page for page in os.environ.get("KVASIR_METRICS", "").split(",") if page]
WITHOUT = os.environ.get("KVASIR_WITHOUT", "").split(",")
RUNNING = re.compile(
    r"^(?:vllm:num_requests_(?:running|waiting)|kvasir_num_requests_running)(?:\{.*\})? (\S+)$",
    re.MULTILINE,
)
ENDLESS = {"max_tokens": 100_000, "extra_body": {"ignore_eos": True}}
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def fetch(url, body=None):
    """Status and text of a reply, whatever the status."""
    data = None if body is None else body.encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    try:
        with DIRECT.open(request, timeout=120) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def user(content):
    return [{"role": "user", "content": content}]


def running_requests():
    count = 0
    for page in METRICS:
        values = RUNNING.findall(fetch(page)[1])
        if not values:
            raise AssertionError(f"{page} counts no running requests")
        count += sum(float(value) for value in values)
    return count


def until_running(wanted, what):
    for _ in range(600):
        if wanted(running_requests()):
            return
        time.sleep(0.05)
    raise AssertionError(f"{what}: {running_requests()} requests run")


def chat_text(chunks):
    return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)


@unittest.skipIf(openai is None, "the Python package openai is missing")
class OpenAiClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.options = {"base_url": f"{URL}/v1", "api_key": "none", "max_retries": 0, "timeout": 120}
        cls.client = openai.OpenAI(**cls.options)
        cls.model = cls.client.models.list().data[0].id

    @classmethod
    def tearDownClass(cls):
        cls.client.close()

    def chat(self, content, **more):
        return self.client.chat.completions.create(
            model=self.model, messages=user(content), **more
        )

    def test_models_are_listed_and_found_by_name(self):
        models = self.client.models.list().data
        self.assertEqual([each.object for each in models], ["model"])
        self.assertEqual(self.client.models.retrieve(self.model).id, self.model)

    def test_a_chat_has_an_answer_a_reason_to_end_and_usage(self):
        answer = self.chat("Hello", max_tokens=7, extra_body={"ignore_eos": True})
        self.assertEqual(answer.model, self.model)
        self.assertEqual(answer.choices[0].message.role, "assistant")
        self.assertEqual(len(answer.choices[0].message.content.split()), 7)
        self.assertEqual(answer.choices[0].finish_reason, "length")
        self.assertEqual(answer.usage.completion_tokens, 7)
        self.assertEqual(answer.usage.total_tokens, answer.usage.prompt_tokens + 7)

    def test_a_chat_stream_has_the_text_of_the_whole_answer(self):
        whole = self.chat("Stream this", max_tokens=50)
        chunks = list(self.chat("Stream this", max_tokens=50, stream=True))
        self.assertEqual(chat_text(chunks), whole.choices[0].message.content)
        reasons = [c.choices[0].finish_reason for c in chunks]
        self.assertEqual(reasons[-1], whole.choices[0].finish_reason)
        self.assertTrue(all(reason is None for reason in reasons[:-1]))
        self.assertTrue(all(c.usage is None for c in chunks), "usage that was not asked for")

    def test_a_chat_stream_has_usage_if_it_is_asked_for(self):
        whole = self.chat("Usage please", max_tokens=9)
        chunks = list(
            self.chat(
                "Usage please", max_tokens=9, stream=True, stream_options={"include_usage": True}
            )
        )
        self.assertEqual([c.usage for c in chunks[:-1]], [None] * (len(chunks) - 1))
        self.assertEqual(chunks[-1].choices, [])
        self.assertEqual(chunks[-1].usage.completion_tokens, whole.usage.completion_tokens)
        self.assertEqual(chunks[-1].usage.prompt_tokens, whole.usage.prompt_tokens)

    def test_a_completion_whole_and_streamed(self):
        request = {"model": self.model, "prompt": "Once upon a time", "max_tokens": 20}
        whole = self.client.completions.create(**request)
        chunks = list(
            self.client.completions.create(
                **request, stream=True, stream_options={"include_usage": True}
            )
        )
        text = "".join(c.choices[0].text for c in chunks if c.choices)
        self.assertEqual(text, whole.choices[0].text)
        self.assertEqual(chunks[-1].usage.completion_tokens, whole.usage.completion_tokens)

    @unittest.skipIf("responses" in WITHOUT, "the server has no responses")
    def test_responses_follow_previous_ones_are_found_and_deleted(self):
        responses = self.client.responses
        for turn in range(8):
            first = responses.create(
                model=self.model, input=f"Question {turn}", max_output_tokens=20
            )
            self.assertTrue(first.output_text)
            following = responses.create(
                model=self.model,
                input="And then?",
                previous_response_id=first.id,
                max_output_tokens=20,
            )
            self.assertGreater(following.usage.input_tokens, first.usage.input_tokens)
            self.assertEqual(responses.retrieve(first.id).output_text, first.output_text)
            responses.delete(first.id)
            with self.assertRaises(openai.NotFoundError):
                responses.retrieve(first.id)

    @unittest.skipIf("responses" in WITHOUT, "the server has no responses")
    def test_a_streamed_response_ends_with_the_whole_and_can_be_followed(self):
        request = {"model": self.model, "input": "Stream a response", "max_output_tokens": 20}
        whole = self.client.responses.create(**request)
        for _ in range(8):
            events = list(self.client.responses.create(**request, stream=True))
            self.assertEqual(events[0].type, "response.created")
            self.assertIn(events[-1].type, ("response.completed", "response.incomplete"))
            text = "".join(e.delta for e in events if e.type == "response.output_text.delta")
            self.assertEqual(text, whole.output_text)
            last = events[-1].response
            self.assertEqual(last.usage.output_tokens, whole.usage.output_tokens)
            following = self.client.responses.create(
                model=self.model, input="More", previous_response_id=last.id
            )
            self.assertGreater(following.usage.input_tokens, whole.usage.input_tokens)

    def test_embeddings_as_floats_and_as_base64_are_equal(self):
        create = self.client.embeddings.create
        texts = ["one", "two", "one"]
        packed = create(model=self.model, input=texts)  # the client asks for base64
        floats = create(model=self.model, input=texts, encoding_format="float")
        self.assertEqual([each.index for each in packed.data], [0, 1, 2])
        self.assertEqual(packed.data[0].embedding, packed.data[2].embedding)
        self.assertNotEqual(packed.data[0].embedding, packed.data[1].embedding)
        for one, other in zip(packed.data, floats.data):
            for a, b in zip(one.embedding, other.embedding, strict=True):
                self.assertAlmostEqual(a, b, places=6)

    def test_a_stream_that_is_closed_leaves_the_engine(self):
        until_running(lambda count: count == 0, "before the stream")
        stream = self.chat("Go on for ever", stream=True, **ENDLESS)
        for number, _ in enumerate(stream):
            if number == 5:
                break
        self.assertGreater(running_requests(), 0)
        stream.close()
        until_running(lambda count: count == 0, "after the stream was closed")

    def test_a_request_that_is_cancelled_before_its_answer_leaves_the_engine(self):
        async def cancelled():
            async with openai.AsyncOpenAI(**self.options) as client:
                request = asyncio.ensure_future(
                    client.chat.completions.create(
                        model=self.model, messages=user("Whole"), **ENDLESS
                    )
                )
                await asyncio.to_thread(until_running, lambda count: count > 0, "after sending")
                request.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await request

        asyncio.run(cancelled())
        until_running(lambda count: count == 0, "after the request was cancelled")

    def test_an_unknown_model_is_not_found(self):
        client = self.client
        calls = [
            lambda: client.chat.completions.create(model="nope", messages=user("Hi")),
            lambda: client.chat.completions.create(model="nope", messages=user("Hi"), stream=True),
            lambda: client.completions.create(model="nope", prompt="Hi"),
            lambda: client.embeddings.create(model="nope", input="Hi"),
        ]
        if "responses" not in WITHOUT:
            calls.append(lambda: client.responses.create(model="nope", input="Hi"))
        for call in calls:
            with self.assertRaises(openai.NotFoundError) as caught:
                call()
            self.assertEqual(caught.exception.code, "model_not_found")
            self.assertIn("nope", caught.exception.message)
        with self.assertRaises(openai.NotFoundError):
            client.models.retrieve("nope")
        if "responses" not in WITHOUT:
            with self.assertRaises(openai.NotFoundError):
                client.responses.retrieve("resp_nope")

    def test_a_wrong_field_is_named(self):
        wrong = {
            "max_tokens": {"max_tokens": -1},
            "n": {"n": 1000},
            "stop": {"stop": [7]},
            "temperature": {"temperature": "hot"},
            "messages": {"messages": user("x" * 140_000)},
            "messages[0].role": {"messages": [{"content": "Hi"}]},
        }
        for param, fields in wrong.items():
            with self.subTest(param), self.assertRaises(openai.BadRequestError) as caught:
                request = {"model": self.model, "messages": user("Hi"), **fields}
                self.client.chat.completions.create(**request)
            self.assertEqual(caught.exception.param, param)
            self.assertEqual(caught.exception.type, "invalid_request_error")

    def test_200_requests_in_parallel_are_all_answered_equal_prompts_alike(self):
        async def ask(client, number):
            request = {
                "model": self.model,
                "messages": user(f"Question {number % 20}"),
                "max_tokens": 30,
            }
            if number < 100:
                answer = await client.chat.completions.create(**request)
                return answer.choices[0].message.content
            stream = await client.chat.completions.create(**request, stream=True)
            return chat_text([chunk async for chunk in stream])

        async def ask_all():
            async with openai.AsyncOpenAI(**self.options) as client:
                return await asyncio.gather(*(ask(client, number) for number in range(200)))

        answers = asyncio.run(ask_all())
        for number, answer in enumerate(answers):
            self.assertEqual(answer, answers[number % 20], f"request {number}")
        alone = self.chat("Question 3", max_tokens=30)
        self.assertEqual(answers[3], alone.choices[0].message.content)
        self.assertEqual(len(set(answers)), 20)

    @unittest.skipIf("messages" in WITHOUT, "the server has no messages")
    def test_messages_whole_and_streamed(self):
        request = {"model": self.model, "max_tokens": 20, "messages": user("Hello, messages")}
        status, body = fetch(f"{URL}/v1/messages", json.dumps(request))
        self.assertEqual(status, 200)
        whole = json.loads(body)
        status, body = fetch(f"{URL}/v1/messages", json.dumps({**request, "stream": True}))
        self.assertEqual(status, 200)
        data = [line[len("data: ") :] for line in body.splitlines() if line.startswith("data: ")]
        events = [json.loads(each) for each in data]
        self.assertEqual(events[0]["type"], "message_start")
        self.assertEqual(events[-1]["type"], "message_stop")
        text = "".join(event.get("delta", {}).get("text", "") for event in events)
        self.assertEqual(text, whole["content"][0]["text"])


if __name__ == "__main__":
    if not URL or not METRICS:
        raise SystemExit("KVASIR_URL and KVASIR_METRICS must be set")
    unittest.main()
