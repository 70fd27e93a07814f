package io.kvasir.cli.command;

import io.kvasir.cli.terminal.Console;
import io.kvasir.gateway.Gateway;
import io.kvasir.gateway.openai.JsonText;
import io.kvasir.gateway.route.EndpointTokens;
import io.kvasir.gateway.route.InexactCause;
import io.kvasir.gateway.route.ModelFleet;
import java.io.IOException;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Sends a gateway one request for each model and API, and says how exactly such requests are routed
 * once their blocks have appeared in the engines' events. Stateless.
 */
final class StartupProbe {

  private static final long EVENTS_MS = 5_000;
  private static final long POLL_MS = 50;
  private static final int UNAVAILABLE = 503;

  /** Some blocks of most engines. */
  private static final int WORDS = 300;

  /** The requests by path: the model, then the prompt, both as JSON. */
  private static final Map<String, String> REQUESTS =
      new TreeMap<>(
          Map.of(
              "/v1/completions",
              "{\"model\":%s,\"prompt\":%s,\"max_tokens\":1}",
              "/v1/chat/completions",
              "{\"model\":%s,\"messages\":[{\"role\":\"user\",\"content\":%s}],\"max_tokens\":1}",
              "/v1/messages",
              "{\"model\":%s,\"messages\":[{\"role\":\"user\",\"content\":%s}],\"max_tokens\":1}",
              "/v1/responses",
              "{\"model\":%s,\"input\":%s,\"max_output_tokens\":16,\"store\":false}"));

  private StartupProbe() {}

  /**
   * Probes a gateway.
   *
   * @param gateway the gateway, whose public port is open
   * @param host the host that it listens on
   * @param console receives a line for each model and endpoint
   */
  static void run(Gateway gateway, String host, Console console) {
    for (String model : new TreeSet<>(gateway.fleets().fleets().keySet())) {
      Map<String, Integer> answers = new TreeMap<>();
      REQUESTS.forEach(
          (path, body) ->
              answers.put(
                  path.substring("/v1/".length()).replace('/', '_'),
                  send(gateway, host, path, body.formatted(quoted(model), prompt(path)))));
      awaitEvents(gateway, model);
      ModelFleet fleet = gateway.fleets().fleets().get(model);
      answers.forEach(
          (endpoint, status) -> {
            String line = status < 400 ? state(fleet, endpoint) : "not served: status " + status;
            console.note("kvasir: model %s, %s: %s".formatted(model, endpoint, line));
          });
    }
  }

  private static String state(@Nullable ModelFleet fleet, String endpoint) {
    if (fleet != null) {
      for (EndpointTokens tokens : fleet.exactness().endpoints()) {
        if (tokens.endpoint().equals(endpoint)) {
          return fleet.exactness(tokens).toString();
        }
      }
    }
    return "nothing is known";
  }

  /** New text in each run, so that the engine stores its blocks, and other text for each path. */
  private static String prompt(String path) {
    SplittableRandom random = new SplittableRandom(System.nanoTime() ^ path.hashCode());
    StringBuilder words = new StringBuilder("Kvasir probes ").append(path).append(':');
    random.ints(WORDS, 0, 100_000).forEach(word -> words.append(' ').append(word));
    return quoted(words.toString());
  }

  private static String quoted(String text) {
    return JsonText.quoted(text);
  }

  /** Returns the status; 503 if there is no answer. */
  private static int send(Gateway gateway, String host, String path, String body) {
    try {
      return OwnRequest.send(gateway, host, path, body).status();
    } catch (IOException e) {
      return UNAVAILABLE;
    }
  }

  /**
   * The engine publishes the blocks a moment later, and the fleet's router may start again with the
   * block size of the events.
   */
  private static void awaitEvents(Gateway gateway, String model) {
    long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(EVENTS_MS);
    while (isUnsettled(gateway.fleets().fleets().get(model)) && System.nanoTime() - endNs < 0) {
      try {
        Thread.sleep(POLL_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private static boolean isUnsettled(@Nullable ModelFleet fleet) {
    return fleet != null
        && fleet.workers().stream()
            .map(fleet::inexact)
            .anyMatch(
                cause ->
                    cause == InexactCause.EVENTS_SILENT
                        || cause == InexactCause.BLOCK_SIZE_MISMATCH);
  }
}
