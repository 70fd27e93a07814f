package io.kvasir.gateway.openai;

/**
 * Reads the value of {@code usage} in any of the APIs, and of {@code meta_info} in SGLang's own.
 * Anthropic's {@code input_tokens} leaves out the tokens that were read from the cache or written
 * to it, {@code prompt_tokens} and the {@code input_tokens} of the Responses API do not. Stateless.
 */
final class UsageReader {

  private enum Key {
    PROMPT_TOKENS,
    COMPLETION_TOKENS,
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    PROMPT_TOKENS_DETAILS,
    INPUT_TOKENS_DETAILS,
    CACHED_TOKENS,
    CACHE_READ_INPUT_TOKENS,
    CACHE_CREATION_INPUT_TOKENS;

    static final NameTable<Key> TABLE = new NameTable<>(Key.class);
  }

  private UsageReader() {}

  /**
   * Takes a value.
   *
   * @param json at the value
   * @return the usage; {@link Usage#UNKNOWN} if the value is no object
   * @throws JsonException if the JSON is not valid
   */
  static Usage read(JsonCursor json) throws JsonException {
    if (json.peek() != '{') {
      json.skip();
      return Usage.UNKNOWN;
    }
    int prompt = -1;
    int input = -1;
    int output = -1;
    int cached = -1;
    int read = -1;
    int created = -1;
    int ofSglang = -1;
    json.beginObject();
    while (json.nextKey()) {
      Key key = Key.TABLE.find(json);
      if (key == null) {
        json.skip();
        continue;
      }
      switch (key) {
        case PROMPT_TOKENS -> prompt = count(json, prompt);
        case INPUT_TOKENS -> input = count(json, input);
        case COMPLETION_TOKENS, OUTPUT_TOKENS -> output = count(json, output);
        case CACHE_READ_INPUT_TOKENS -> read = count(json, read);
        case CACHE_CREATION_INPUT_TOKENS -> created = count(json, created);
        case PROMPT_TOKENS_DETAILS, INPUT_TOKENS_DETAILS -> cached = cachedTokens(json, cached);
        case CACHED_TOKENS -> ofSglang = count(json, ofSglang);
      }
    }
    if (prompt < 0) {
      boolean leavesOutCached = cached < 0 && input >= 0;
      prompt = leavesOutCached ? sum(input, read, created) : input;
    }
    return new Usage(prompt, output, cached >= 0 ? cached : Math.max(read, ofSglang));
  }

  private static int sum(int input, int read, int created) {
    long sum = (long) input + Math.max(0, read) + Math.max(0, created);
    return (int) Math.min(sum, Integer.MAX_VALUE);
  }

  private static int cachedTokens(JsonCursor json, int otherwise) throws JsonException {
    int cached = otherwise;
    if (json.peek() != '{') {
      json.skip();
      return cached;
    }
    json.beginObject();
    while (json.nextKey()) {
      if (Key.TABLE.find(json) == Key.CACHED_TOKENS) {
        cached = count(json, cached);
      } else {
        json.skip();
      }
    }
    return cached;
  }

  /** Takes a value; {@return it if it is a number of tokens} */
  private static int count(JsonCursor json, int otherwise) throws JsonException {
    long count = json.skipUnsigned();
    return count < 0 || count > Integer.MAX_VALUE ? otherwise : (int) count;
  }
}
