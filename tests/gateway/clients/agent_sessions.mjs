// Sessions of agents through the official clients of Anthropic's and OpenAI's APIs.
//
//   npm ci && KVASIR_URL=http://127.0.0.1:8080 KVASIR_LOG=FILE node agent_sessions.mjs
//
// KVASIR_APIS      one after the other, comma-separated: chat, messages, responses, stored (default: all)
// KVASIR_SESSIONS  sessions of each API, which take turns (default: 6)
// KVASIR_TURNS     requests of each session (default: 6)
// KVASIR_SEED      seed of all texts (default: 1)
// KVASIR_NONCE     1: every system prompt begins with a number of its own
// KVASIR_LOG       receives a JSON line for each request: its place in APIS, its session, and the request as one that
//                  names no stored response, with the prompt's tokens and the cached ones of them

import assert from "node:assert/strict";
import { appendFileSync, writeFileSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const url = process.env.KVASIR_URL;
const log = process.env.KVASIR_LOG;
assert.ok(url && log, "KVASIR_URL must be the server's URL without /v1, KVASIR_LOG a file");
const sessions = Number(process.env.KVASIR_SESSIONS ?? 6);
const turns = Number(process.env.KVASIR_TURNS ?? 6);
const nonce = process.env.KVASIR_NONCE === "1";

const quiet = { apiKey: "none", maxRetries: 0, timeout: 120_000 };
const anthropic = new Anthropic({ baseURL: url, ...quiet });
const openai = new OpenAI({ baseURL: `${url}/v1`, ...quiet });
const model = (await openai.models.list()).data[0].id;

/** Numbers below 1 that depend on the seed alone. */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomOf(Number(process.env.KVASIR_SEED ?? 1));
const number = (below) => Math.floor(random() * below);
const words = (count) => Array.from({ length: count }, () => `word${number(5000)}`).join(" ");
const path = () => `src/${words(2).replace(" ", "/")}.java`;

const RULES = `You are a coding agent. Follow these rules.\n${words(200)}`;
const TOOLS = ["Read", "Edit", "Bash", "Grep"].map((name) => ({
  name,
  description: `${name}: ${words(25)}`,
  schema: {
    type: "object",
    properties: { path: { type: "string", description: words(6) }, limit: { type: "integer" } },
    required: ["path"],
  },
}));

/** What the user, or a tool, says next: a question in every third turn, else a result. */
const asks = (turn) => turn % 3 === 0;

/** What all sessions have. */
class Session {
  turn = 0;
  id = `session-${number(2 ** 30)}`;
  project = `Work in ${path()}. ${words(30)}`;

  /** A sub-agent has rules and tools of its own. */
  constructor(parent) {
    this.parent = parent;
    this.rules = parent ? `You are a sub-agent that searches.\n${words(60)}` : RULES;
    this.tools = parent ? TOOLS.slice(0, 2) : TOOLS;
  }

  system() {
    const head = nonce ? `Request ${1e9 + number(2 ** 29)}.\n` : "";
    return `${head}${this.rules}\n${this.project}`;
  }

  call() {
    return { id: `call_${number(2 ** 30)}`, name: this.tools[1].name, input: { path: path(), limit: 20 } };
  }
}

/** Claude Code: system blocks with a bill, marks of caches that move, tools, and sub-agents by header. */
class Messages extends Session {
  api = "messages";
  path = "/v1/messages";
  messages = [];

  headers() {
    if (!this.parent) return { "x-claude-code-session-id": this.id };
    return { "x-claude-code-session-id": this.parent.id, "x-claude-code-agent-id": this.id };
  }

  async send() {
    const marked = { cache_control: { type: "ephemeral" } };
    if (asks(this.turn)) this.messages.push({ role: "user", content: [{ type: "text", text: words(40) }] });
    const last = this.messages.at(-1);
    const content = last.content.map((block, i) => (i === 0 ? { ...block, ...marked } : block));
    const body = {
      model,
      max_tokens: 300,
      temperature: 1,
      system: [
        { type: "text", text: `x-anthropic-billing-header: cc_version=2.1.${number(90)}; cch=${number(2 ** 30)};` },
        { type: "text", text: this.system(), ...marked },
      ],
      tools: this.tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
      messages: [...this.messages.slice(0, -1), { ...last, content }],
    };
    const options = { headers: this.headers() };
    const answer =
      this.turn % 2 === 0
        ? await anthropic.messages.create(body, options)
        : await anthropic.messages.stream(body, options).finalMessage();
    this.turn++;
    const said = answer.content.map(({ type, text }) => ({ type, text }));
    if (asks(this.turn)) {
      this.messages.push({ role: "assistant", content: said });
    } else {
      const { id, name, input } = this.call();
      const result = { type: "tool_result", tool_use_id: id, content: [{ type: "text", text: words(50) }] };
      this.messages.push({ role: "assistant", content: [...said, { type: "tool_use", id, name, input }] });
      this.messages.push({ role: "user", content: [result] });
    }
    const { input_tokens: fresh, cache_read_input_tokens: cached } = answer.usage;
    return { whole: body, prompt: fresh + cached, cached };
  }
}

/** Codex: instructions and tools with each request, and the whole conversation. */
class Responses extends Session {
  api = "responses";
  path = "/v1/responses";
  store = false;
  items = [];
  fresh = [];
  previous;

  add(...items) {
    this.items.push(...items);
    this.fresh.push(...items);
  }

  async send() {
    if (asks(this.turn)) {
      this.add({ type: "message", role: "user", content: [{ type: "input_text", text: words(40) }] });
    }
    const whole = {
      model,
      max_output_tokens: 300,
      instructions: this.system(),
      tools: this.tools.map(({ name, description, schema }) => ({
        type: "function",
        name,
        description,
        parameters: schema,
        strict: false,
      })),
      tool_choice: "auto",
      parallel_tool_calls: false,
      store: this.store,
      input: [...this.items],
    };
    const body = this.previous
      ? { ...whole, previous_response_id: this.previous, input: this.fresh }
      : { ...whole, input: [...this.items] };
    const options = { headers: { "session-id": this.id } };
    let answer;
    if (this.turn % 2 === 0) {
      answer = await openai.responses.create(body, options);
    } else {
      for await (const event of await openai.responses.create({ ...body, stream: true }, options)) {
        answer = event.response ?? answer;
      }
    }
    this.turn++;
    assert.equal(answer.status, "completed");
    this.fresh = [];
    this.items.push(...answer.output);
    this.previous = this.store ? answer.id : undefined;
    if (!asks(this.turn)) {
      const { id, name, input } = this.call();
      this.add(
        { type: "function_call", call_id: id, name, arguments: JSON.stringify(input) },
        { type: "function_call_output", call_id: id, output: words(50) },
      );
    }
    const { input_tokens: prompt, input_tokens_details: details } = answer.usage;
    return { whole, prompt, cached: details.cached_tokens };
  }
}

/** The same with stored responses: a request has only what is new. */
class Stored extends Responses {
  api = "stored";
  store = true;
}

/** A tool loop over chats. */
class Chat extends Session {
  api = "chat";
  path = "/v1/chat/completions";
  messages = [];

  async send() {
    if (asks(this.turn)) this.messages.push({ role: "user", content: words(40) });
    const body = {
      model,
      max_tokens: 300,
      messages: [{ role: "system", content: this.system() }, ...this.messages],
      tools: this.tools.map(({ name, description, schema }) => ({
        type: "function",
        function: { name, description, parameters: schema },
      })),
    };
    let answer;
    if (this.turn % 2 === 0) {
      answer = await openai.chat.completions.create(body);
    } else {
      answer = await openai.chat.completions
        .stream({ ...body, stream_options: { include_usage: true } })
        .finalChatCompletion();
    }
    this.turn++;
    const said = { role: "assistant", content: answer.choices[0].message.content };
    if (asks(this.turn)) {
      this.messages.push(said);
    } else {
      const { id, name, input } = this.call();
      const call = { id, type: "function", function: { name, arguments: JSON.stringify(input) } };
      this.messages.push({ ...said, tool_calls: [call] });
      this.messages.push({ role: "tool", tool_call_id: id, content: words(50) });
    }
    const { prompt_tokens: prompt, prompt_tokens_details: details } = answer.usage;
    return { whole: body, prompt, cached: details.cached_tokens };
  }
}

const APIS = { chat: Chat, messages: Messages, responses: Responses, stored: Stored };

writeFileSync(log, "");
const apis = (process.env.KVASIR_APIS ?? Object.keys(APIS).join()).split(",");
for (const [run, name] of apis.entries()) {
  const all = [];
  for (let i = 0; i < sessions; i++) all.push(new APIS[name](i % 3 === 2 ? all[i - 2] : undefined));
  for (let turn = 0; turn < turns; turn++) {
    for (const [session, each] of all.entries()) {
      const figures = await each.send();
      appendFileSync(log, `${JSON.stringify({ run, api: each.api, path: each.path, session, turn, ...figures })}\n`);
    }
  }
}
