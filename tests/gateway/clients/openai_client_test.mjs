// Kvasir's OpenAI API through the official npm client.
//
//   npm ci && KVASIR_URL=http://127.0.0.1:8080 KVASIR_METRICS=URL[,URL] node openai_client_test.mjs
//
// KVASIR_METRICS: the /metrics pages whose counts of running requests add up to those of the server,
// in the names of vLLM (an engine's page) or of Kvasir (a gateway's admin port).
// KVASIR_WITHOUT: what the server does not have, of responses, messages and choices (several in a chat),
// comma-separated.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";

const url = process.env.KVASIR_URL;
const metricsUrls = (process.env.KVASIR_METRICS ?? "").split(",").filter(Boolean);
assert.ok(url, "KVASIR_URL must be the server's URL without /v1");
assert.ok(metricsUrls.length > 0, "KVASIR_METRICS must name at least one page");

const without = (process.env.KVASIR_WITHOUT ?? "").split(",");
const ifServed = (api) => ({ skip: without.includes(api) });

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0, timeout: 120_000 });
const model = (await client.models.list()).data[0].id;
const running = /^(?:vllm:num_requests_(?:running|waiting)|kvasir_num_requests_running)(?:\{.*\})? (\S+)$/;

const user = (content) => [{ role: "user", content }];
const chat = (content, more = {}) =>
  client.chat.completions.create({ model, messages: user(content), ...more });
const post = (path, body) =>
  fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

async function collect(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

/** Text, finish reason and usage of a chat stream. */
async function collectChat(stream) {
  const chunks = await collect(stream);
  const text = chunks.map((chunk) => chunk.choices[0]?.delta?.content ?? "").join("");
  const finish = chunks.map((chunk) => chunk.choices[0]?.finish_reason).filter(Boolean);
  return { chunks, text, finish, usage: chunks.map((chunk) => chunk.usage).filter(Boolean) };
}

async function runningRequests() {
  let sum = 0;
  for (const page of metricsUrls) {
    const text = await (await fetch(page)).text();
    const values = text.split("\n").map((line) => running.exec(line)).filter(Boolean);
    assert.ok(values.length > 0, `${page} counts no running requests`);
    for (const [, value] of values) sum += Number(value);
  }
  return sum;
}

async function untilRunning(wanted, what) {
  for (let tries = 0; tries < 600; tries++) {
    if (wanted(await runningRequests())) return;
    await sleep(50);
  }
  assert.fail(`${what}: ${await runningRequests()} requests run`);
}

/** A stream that outlasts the test unless it is ended. */
const endless = (prompt, options) =>
  client.chat.completions.create(
    { model, messages: user(prompt), stream: true, max_tokens: 100_000, ignore_eos: true },
    options,
  );

test("models are listed and found by name", async () => {
  const models = (await client.models.list()).data;
  assert.deepEqual(models.map((each) => each.object), ["model"]);
  assert.equal((await client.models.retrieve(model)).id, model);
});

test("a chat has an answer, a reason to end and usage", async () => {
  const answer = await chat("Hello", { max_tokens: 7, ignore_eos: true });
  assert.equal(answer.object, "chat.completion");
  assert.equal(answer.model, model);
  assert.equal(answer.choices[0].message.role, "assistant");
  assert.equal(answer.choices[0].message.content.split(" ").length, 7);
  assert.equal(answer.choices[0].finish_reason, "length");
  assert.equal(answer.usage.completion_tokens, 7);
  assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + 7);
});

test("a chat stream has the text of the whole answer", async () => {
  const whole = await chat("Stream this", { max_tokens: 50 });
  const stream = await collectChat(await chat("Stream this", { max_tokens: 50, stream: true }));
  assert.equal(stream.text, whole.choices[0].message.content);
  assert.deepEqual(stream.finish, [whole.choices[0].finish_reason]);
  assert.equal(stream.chunks[0].choices[0].delta.role, "assistant");
  assert.deepEqual(stream.usage, [], "usage that was not asked for");
  assert.ok(stream.chunks.every((chunk) => chunk.choices.length === 1));
});

test("a chat stream has usage if it is asked for", async () => {
  const whole = await chat("Usage please", { max_tokens: 9 });
  const stream = await collectChat(
    await chat("Usage please", { max_tokens: 9, stream: true, stream_options: { include_usage: true } }),
  );
  assert.equal(stream.usage.length, 1);
  assert.deepEqual(stream.chunks.at(-1).choices, []);
  assert.equal(stream.usage[0].completion_tokens, whole.usage.completion_tokens);
  assert.equal(stream.usage[0].prompt_tokens, whole.usage.prompt_tokens);
});

test("the client's stream helper sums a stream up", async () => {
  const helper = client.chat.completions.stream({ model, messages: user("Helper"), max_tokens: 12 });
  let deltas = "";
  helper.on("content", (delta) => (deltas += delta));
  const final = await helper.finalChatCompletion();
  assert.equal(deltas, final.choices[0].message.content);
});

test("several choices differ", ifServed("choices"), async () => {
  const answer = await chat("Choose", { n: 3, max_tokens: 20, ignore_eos: true });
  assert.equal(new Set(answer.choices.map((choice) => choice.message.content)).size, 3);
});

test("a stop string ends an answer before it", async () => {
  const text = (await chat("Choose", { max_tokens: 20, ignore_eos: true })).choices[0].message.content;
  const stop = text.split(" ")[5];
  const stopped = await chat("Choose", { max_tokens: 20, ignore_eos: true, stop: [` ${stop}`] });
  assert.equal(stopped.choices[0].finish_reason, "stop");
  assert.equal(stopped.choices[0].message.content, text.split(` ${stop}`)[0]);
});

test("a completion, whole and streamed", async () => {
  const request = { model, prompt: "Once upon a time", max_tokens: 20 };
  const whole = await client.completions.create(request);
  assert.equal(whole.object, "text_completion");
  const chunks = await collect(
    await client.completions.create({ ...request, stream: true, stream_options: { include_usage: true } }),
  );
  assert.equal(chunks.map((chunk) => chunk.choices[0]?.text ?? "").join(""), whole.choices[0].text);
  assert.equal(chunks.at(-1).usage.completion_tokens, whole.usage.completion_tokens);
});

test("responses follow previous ones, are found and deleted", ifServed("responses"), async () => {
  for (let turn = 0; turn < 8; turn++) {
    const first = await client.responses.create({ model, input: `Question ${turn}`, max_output_tokens: 20 });
    assert.equal(first.object, "response");
    assert.ok(first.output_text.length > 0);
    const next = await client.responses.create({
      model,
      input: "And then?",
      previous_response_id: first.id,
      max_output_tokens: 20,
    });
    assert.equal(next.previous_response_id, first.id);
    assert.ok(next.usage.input_tokens > first.usage.input_tokens, "the conversation is in the prompt");
    assert.equal((await client.responses.retrieve(first.id)).output_text, first.output_text);
    await client.responses.delete(first.id);
    await assert.rejects(client.responses.retrieve(first.id), OpenAI.NotFoundError);
  }
});

test("a streamed response ends with the whole, and can be followed", ifServed("responses"), async () => {
  const request = { model, input: "Stream a response", max_output_tokens: 20 };
  const whole = await client.responses.create(request);
  for (let turn = 0; turn < 8; turn++) {
    const events = await collect(await client.responses.create({ ...request, stream: true }));
    const types = events.map((event) => event.type);
    assert.deepEqual(types.slice(0, 2), ["response.created", "response.in_progress"]);
    assert.match(types.at(-1), /^response\.(completed|incomplete)$/);
    assert.deepEqual(events.map((event) => event.sequence_number), [...events.keys()]);
    const text = events.filter((event) => event.type === "response.output_text.delta");
    assert.equal(text.map((event) => event.delta).join(""), whole.output_text);
    const last = events.at(-1).response;
    assert.equal(last.usage.output_tokens, whole.usage.output_tokens);
    const next = await client.responses.create({ model, input: "More", previous_response_id: last.id });
    assert.ok(next.usage.input_tokens > whole.usage.input_tokens);
  }
});

test("embeddings as floats and as base64 are equal", async () => {
  const input = ["one", "two", "one"];
  const packed = await client.embeddings.create({ model, input }); // the client asks for base64
  const floats = await client.embeddings.create({ model, input, encoding_format: "float" });
  assert.deepEqual(packed.data.map((each) => each.index), [0, 1, 2]);
  assert.deepEqual(packed.data[0].embedding, packed.data[2].embedding);
  assert.notDeepEqual(packed.data[0].embedding, packed.data[1].embedding);
  for (const [i, { embedding }] of packed.data.entries()) {
    assert.deepEqual(Array.from(embedding), floats.data[i].embedding.map(Math.fround));
  }
  const short = await client.embeddings.create({ model, input: "one", dimensions: 8 });
  assert.equal(short.data[0].embedding.length, 8);
});

test("a stream that is aborted leaves the engine", async () => {
  await untilRunning((count) => count === 0, "before the streams");
  const signal = new AbortController();
  const byAbort = await endless("Go on for ever", { signal: signal.signal });
  const byBreak = await endless("Never stop");
  let chunks = 0;
  for await (const _ of byAbort) {
    if (++chunks === 5) {
      assert.ok((await runningRequests()) > 0, "the streams are seen in the metrics");
      signal.abort();
    }
  }
  for await (const _ of byBreak) break;
  await untilRunning((count) => count === 0, "after both streams were aborted");
});

test("a request that is aborted before its answer leaves the engine", async () => {
  const signal = new AbortController();
  const request = client.chat.completions.create(
    { model, messages: user("Whole"), max_tokens: 100_000, ignore_eos: true },
    { signal: signal.signal },
  );
  request.catch(() => {}); // checked below
  await untilRunning((count) => count > 0, "after the request was sent");
  signal.abort();
  await assert.rejects(request, OpenAI.APIUserAbortError);
  await untilRunning((count) => count === 0, "after the request was aborted");
});

test("an unknown model is not found", async () => {
  const calls = [
    () => client.chat.completions.create({ model: "nope", messages: user("Hi") }),
    () => client.chat.completions.create({ model: "nope", messages: user("Hi"), stream: true }),
    () => client.completions.create({ model: "nope", prompt: "Hi" }),
    ...(without.includes("responses") ? [] : [() => client.responses.create({ model: "nope", input: "Hi" })]),
    () => client.embeddings.create({ model: "nope", input: "Hi" }),
  ];
  for (const call of calls) {
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof OpenAI.NotFoundError, String(error));
      assert.equal(error.code, "model_not_found");
      assert.match(error.message, /nope/);
      return true;
    });
  }
  await assert.rejects(client.models.retrieve("nope"), OpenAI.NotFoundError);
  if (!without.includes("responses")) {
    await assert.rejects(client.responses.retrieve("resp_nope"), OpenAI.NotFoundError);
  }
});

test("a wrong field is named", async () => {
  const wrong = {
    max_tokens: { max_tokens: -1 },
    n: { n: 1000 },
    stop: { stop: [7] },
    temperature: { temperature: "hot" },
    stream: { stream: "yes" },
    messages: { messages: [{ role: "user", content: "x".repeat(140_000) }] },
    "messages[0].role": { messages: [{ content: "Hi" }] },
    tool_choice: { tool_choice: "required" },
  };
  for (const [param, fields] of Object.entries(wrong)) {
    const request = { model, messages: user("Hi"), ...fields };
    await assert.rejects(client.post("/chat/completions", { body: request }), (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError, `${param}: ${error}`);
      assert.equal(error.param, param);
      assert.equal(error.type, "invalid_request_error");
      return true;
    });
  }
  if (!without.includes("responses")) {
    await assert.rejects(
      client.responses.create({ model, input: "Hi", max_output_tokens: 0 }),
      (error) => error instanceof OpenAI.BadRequestError && error.param === "max_output_tokens",
    );
  }
  const broken = await post("/v1/chat/completions", '{"model":');
  assert.equal(broken.status, 400);
  assert.equal((await broken.json()).error.type, "invalid_request_error");
  assert.equal((await post("/v1/nothing", {})).status, 404);
});

test("200 requests in parallel are all answered, equal prompts alike", async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const prompt = `Question ${i % 20}`;
      if (i < 100) return (await chat(prompt, { max_tokens: 30 })).choices[0].message.content;
      return (await collectChat(await chat(prompt, { max_tokens: 30, stream: true }))).text;
    }),
  );
  for (const [i, answer] of answers.entries()) assert.equal(answer, answers[i % 20], `request ${i}`);
  const alone = await chat("Question 3", { max_tokens: 30 });
  assert.equal(answers[3], alone.choices[0].message.content);
  assert.equal(new Set(answers).size, 20);
});

test("Anthropic's messages: whole, streamed, counted, refused", ifServed("messages"), async () => {
  const request = { model, max_tokens: 20, messages: user("Hello, messages") };
  const whole = await (await post("/v1/messages", request)).json();
  assert.equal(whole.type, "message");
  assert.match(whole.stop_reason, /^(max_tokens|end_turn)$/);
  const stream = await post("/v1/messages", { ...request, stream: true });
  assert.match(stream.headers.get("content-type"), /^text\/event-stream/);
  const events = (await stream.text())
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice("data: ".length)));
  assert.equal(events[0].type, "message_start");
  assert.equal(events.at(-1).type, "message_stop");
  const text = events.map((event) => event.delta?.text ?? "").join("");
  assert.equal(text, whole.content[0].text);
  const counted = await (await post("/v1/messages/count_tokens", request)).json();
  const { input_tokens: fresh, cache_read_input_tokens: cached } = whole.usage;
  assert.equal(counted.input_tokens, fresh + cached);
  for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
    const refused = await post(path, { ...request, model: "nope" });
    assert.equal(refused.status, 404);
    const error = await refused.json();
    assert.equal(error.type, "error");
    assert.equal(error.error.type, "not_found_error");
  }
  const wrong = await post("/v1/messages", { ...request, max_tokens: -1 });
  assert.equal(wrong.status, 400);
  assert.match((await wrong.json()).error.message, /max_tokens/);
});
