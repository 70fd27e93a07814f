package io.kvasir.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.gateway.tokens.ModelTokens;
import io.kvasir.gateway.tokens.OwnPrompt;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Tokens as another engine of the model makes them, changed from a position on. */
final class BorrowedTokens implements ModelTokens {

  private final StandInServer renderer;
  private final List<String> paths;
  final AtomicInteger made = new AtomicInteger();
  volatile int wrongFrom = Integer.MAX_VALUE;

  /** How many tokens are said to be the engine's. */
  volatile int exact = Integer.MAX_VALUE;

  volatile boolean full;
  volatile boolean silent;
  volatile boolean unclear;

  BorrowedTokens(StandInServer renderer, String... paths) {
    this.renderer = renderer;
    this.paths = List.of(paths);
  }

  @Override
  public String name() {
    return "a borrowed tokenizer";
  }

  @Override
  public boolean serves(String path) {
    return paths.contains(path);
  }

  @Override
  public boolean make(String path, byte[] body, Consumer<@Nullable OwnPrompt> then) {
    if (full) {
      return false;
    }
    Thread thread =
        new Thread(
            () -> {
              int[] tokens =
                  tokens(
                      renderer.ask(
                          path + "/render", named(new String(body, StandardCharsets.UTF_8))));
              for (int i = wrongFrom; i < tokens.length; i++) {
                tokens[i] += 1_000;
              }
              made.incrementAndGet();
              if (!silent) {
                then.accept(unclear ? null : new OwnPrompt(tokens, Math.min(exact, tokens.length)));
              }
            });
    thread.start();
    return true;
  }

  private static int[] tokens(JsonNode reply) {
    JsonNode ids = reply.has("token_ids") ? reply.get("token_ids") : reply.get("tokens");
    return StreamSupport.stream(ids.spliterator(), false).mapToInt(JsonNode::asInt).toArray();
  }

  @Override
  public String place(int[] tokens, int at) {
    return "segment 0";
  }

  @Override
  public void close() {}

  /** A body for the stand-in, whose model has another name. */
  static String named(String body) {
    return body.replace("\"model\":\"m\"", "\"model\":\"" + StandInServer.MODEL + "\"");
  }
}
