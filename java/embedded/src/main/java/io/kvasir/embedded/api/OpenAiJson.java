package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;

/** Parts of replies that several OpenAI endpoints share. Stateless. */
public final class OpenAiJson {

  private OpenAiJson() {}

  /** A nested OpenAI error. */
  public static ObjectNode error(ApiError error) {
    ObjectNode root = Json.object();
    root.putObject("error")
        .put("message", error.getMessage())
        .put("type", error.type())
        .put("param", error.param())
        .put("code", error.code());
    return root;
  }

  /** The usage of chat and text completions. */
  static ObjectNode usage(ReplyChoice.Usage usage) {
    ObjectNode root =
        Json.object()
            .put("prompt_tokens", usage.prompt())
            .put("completion_tokens", usage.output())
            .put("total_tokens", usage.total());
    root.putObject("prompt_tokens_details").put("cached_tokens", usage.cached());
    return root;
  }

  /** A new id with a prefix. */
  public static String newId(String prefix) {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return String.format(Locale.ROOT, "%s%016x%016x", prefix, random.nextLong(), random.nextLong());
  }

  /** The current time in Unix seconds. */
  static long nowSeconds() {
    return System.currentTimeMillis() / 1000;
  }
}
