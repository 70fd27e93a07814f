package io.kvasir.gateway.openai;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** The top-level fields of request bodies that the gateway reads or writes. */
public enum BodyField {
  /** The model that the client asks for. */
  MODEL(Type.TEXT),
  /** Whether the reply is a stream of events. */
  STREAM(Type.FLAG),
  /** Options of a streamed reply. */
  STREAM_OPTIONS(Type.OBJECT),
  /** The messages of a chat. */
  MESSAGES(Type.LIST),
  /** The prompt of a completion: texts or tokens. */
  PROMPT(Type.PROMPT),
  /** The input of the Responses API and of embeddings. */
  INPUT(Type.ANY),
  /** The system prompt of the Anthropic API. */
  SYSTEM(Type.ANY),
  /** Most output tokens, in chat completions. */
  MAX_COMPLETION_TOKENS(Type.INTEGER),
  /** Most output tokens, in completions and older chat completions. */
  MAX_TOKENS(Type.INTEGER),
  /** Most output tokens, in the Responses API. */
  MAX_OUTPUT_TOKENS(Type.INTEGER),
  /** Least output tokens. */
  MIN_TOKENS(Type.ANY),
  /** The number of replies to generate. */
  N(Type.INTEGER),
  /** The client's user. */
  USER(Type.TEXT),
  /** Names requests that share a prefix. */
  PROMPT_CACHE_KEY(Type.TEXT),
  /** The response that an input of the Responses API continues. */
  PREVIOUS_RESPONSE_ID(Type.TEXT),
  /** The stored file whose requests a batch runs. */
  INPUT_FILE_ID(Type.ANY),
  /** Names the conversation, for TensorRT-LLM. */
  CONVERSATION_PARAMS(Type.OBJECT),
  /** What the client states about itself. */
  CLIENT_METADATA(Type.OBJECT),
  /** What the client notes about the request; Anthropic's clients name their session in it. */
  METADATA(Type.ANY),
  /** Requests with different salts share no cached blocks. */
  CACHE_SALT(Type.TEXT),
  /** The priority of the request. */
  PRIORITY(Type.INTEGER),
  /** The tokens of the prompt, for SGLang. */
  INPUT_IDS(Type.ANY),
  /** The tokens of the prompt, for vLLM's {@code /inference/v1/generate}. */
  TOKEN_IDS(Type.ANY),
  /** The prompt of SGLang's {@code /generate}; in the Responses API, the format of the answer. */
  TEXT(Type.ANY),
  /** The LoRA adapter, for SGLang: a name, or a list with one for each prompt of a batch. */
  LORA_PATH(Type.ANY),
  /** The tokens of the prompt, for TensorRT-LLM. */
  PROMPT_TOKEN_IDS(Type.ANY),
  /** The tools that the model may call. */
  TOOLS(Type.ANY),
  /** The system prompt of the Responses API. */
  INSTRUCTIONS(Type.ANY),
  /** A chat template in place of the model's. */
  CHAT_TEMPLATE(Type.ANY),
  /** Arguments of the chat template. */
  CHAT_TEMPLATE_KWARGS(Type.ANY),
  /** Whether a chat's prompt ends with the beginning of an answer. */
  ADD_GENERATION_PROMPT(Type.ANY),
  /** Whether the answer continues the last message of a chat. */
  CONTINUE_FINAL_MESSAGE(Type.ANY),
  /** Whether the tokenizer adds its special tokens to a prompt. */
  ADD_SPECIAL_TOKENS(Type.ANY),
  /** Arguments of the multimodal processor. */
  MM_PROCESSOR_KWARGS(Type.ANY),
  /** Whether a completion begins with its prompt. */
  ECHO(Type.ANY),
  /** The text behind a completion. */
  SUFFIX(Type.ANY),
  /** The log probabilities of the prompt's tokens that are asked for. */
  PROMPT_LOGPROBS(Type.ANY),
  /** The number of tokens to which the prompt is cut. */
  TRUNCATE_PROMPT_TOKENS(Type.ANY),
  /** Whether the engine keeps the response. */
  STORE(Type.ANY),
  /** Whether the response is computed without a waiting client. */
  BACKGROUND(Type.ANY),

  /** The rank that serves the request, for vLLM and older SGLang. */
  DATA_PARALLEL_RANK(Type.ROUTING),
  /** The rank that serves the request, for SGLang. */
  ROUTED_DP_RANK(Type.ROUTING),
  /** The rank that computed the prompt, for SGLang. */
  DISAGG_PREFILL_DP_RANK(Type.ROUTING),
  /** Where the prompt's KV blocks are, for vLLM. */
  KV_TRANSFER_PARAMS(Type.ROUTING),
  /** Where the prompt's KV blocks are, for TensorRT-LLM. */
  DISAGGREGATED_PARAMS(Type.ROUTING),
  /** The host that computes the prompt, for SGLang. */
  BOOTSTRAP_HOST(Type.ROUTING),
  /** The port of {@link #BOOTSTRAP_HOST}. */
  BOOTSTRAP_PORT(Type.ROUTING),
  /** The transfer of the prompt's KV blocks, for SGLang. */
  BOOTSTRAP_ROOM(Type.ROUTING),
  /** The name of the host that computes the prompt, for SGLang. */
  BOOTSTRAP_PAIR_KEY(Type.ROUTING),
  /** The request's id, for vLLM, whose P2pNccl connector takes hosts from it. */
  REQUEST_ID(Type.ROUTING),
  /** Dynamo's extensions, which can name workers, ranks and tokens. */
  NVEXT(Type.ROUTING);

  /** What a field's value must be; every field can also be null. */
  enum Type {
    TEXT("a string or null", 8 << 10),
    FLAG("true, false or null"),
    INTEGER("an integer or null", 64),
    OBJECT("an object or null"),
    LIST("an array or null"),
    PROMPT("a string, an array of strings, an array of tokens or an array of such arrays"),
    ANY("a value"),
    /** Any value; only the gateway may set the field. */
    ROUTING("a value");

    final String words;

    /** The most bytes of a value in the body: what an event loop decodes must be short. */
    final int maxBytes;

    Type(String words) {
      this(words, Integer.MAX_VALUE);
    }

    Type(String words, int maxBytes) {
      this.words = words;
      this.maxBytes = maxBytes;
    }
  }

  /** The fields that choose ranks, hosts and transfers. A client's must not reach an engine. */
  public static final List<BodyField> ROUTING =
      Arrays.stream(values()).filter(field -> field.type == Type.ROUTING).toList();

  /** Those of {@link #ROUTING} that name a transfer of KV, which a trusted client can set. */
  public static final Set<BodyField> TRANSFER =
      EnumSet.of(
          DISAGG_PREFILL_DP_RANK,
          KV_TRANSFER_PARAMS,
          DISAGGREGATED_PARAMS,
          BOOTSTRAP_HOST,
          BOOTSTRAP_PORT,
          BOOTSTRAP_ROOM,
          BOOTSTRAP_PAIR_KEY);

  /** The fields whose values the gateway decodes, so that their elements have a bound. */
  static final Set<BodyField> DECODED =
      EnumSet.of(MESSAGES, PROMPT, INPUT, SYSTEM, TEXT, INPUT_IDS, TOKEN_IDS, PROMPT_TOKEN_IDS);

  static final NameTable<BodyField> TABLE = new NameTable<>(BodyField.class);

  final Type type;
  private final String key = NameTable.name(this);

  BodyField(Type type) {
    this.type = type;
  }

  /** {@return the field's key in JSON} */
  public String key() {
    return key;
  }
}
