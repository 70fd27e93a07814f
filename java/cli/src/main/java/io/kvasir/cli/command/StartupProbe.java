package io.kvasir.cli.command;

import io.kvasir.cli.terminal.Console;
import io.kvasir.gateway.Gateway;
import io.kvasir.gateway.openai.JsonText;
import io.kvasir.gateway.route.EndpointTokens;
import io.kvasir.gateway.route.InexactCause;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.RoutingExactness;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Sends a gateway one request for each model and API, and says how exactly such requests are routed
 * once their blocks have appeared in the engines' events. Stateless.
 */
final class StartupProbe {

  private static final int TIMEOUT_MS = 30_000;
  private static final long EVENTS_MS = 5_000;
  private static final long POLL_MS = 50;

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
   * @param console receives a line for each model and endpoint
   */
  static void run(Gateway gateway, Console console) {
    for (Map.Entry<String, ModelFleet> fleet :
        new TreeMap<>(gateway.fleets().fleets()).entrySet()) {
      Set<String> served = new HashSet<>();
      for (Map.Entry<String, String> request : REQUESTS.entrySet()) {
        String path = request.getKey();
        String body = request.getValue().formatted(quoted(fleet.getKey()), prompt(path));
        if (isServed(gateway, path, body)) {
          served.add(path.substring("/v1/".length()).replace('/', '_'));
        }
      }
      awaitEvents(fleet.getValue());
      Map<String, InexactCause> workers = fleet.getValue().inexactWorkers();
      for (EndpointTokens tokens : fleet.getValue().exactness().endpoints()) {
        if (!served.contains(tokens.endpoint())) {
          continue; // the engine lacks this API, or is too busy
        }
        console.note(
            "kvasir: model %s, %s: %s"
                .formatted(
                    fleet.getKey(), tokens.endpoint(), RoutingExactness.state(tokens, workers)));
      }
    }
  }

  /** New text in each run, so that the engine stores its blocks. */
  private static String prompt(String path) {
    String first = "Kvasir probes " + path + " at " + System.nanoTime() + ".";
    return quoted(first + " Which words repeat?".repeat(WORDS / 3));
  }

  private static String quoted(String text) {
    return JsonText.quoted(text);
  }

  private static boolean isServed(Gateway gateway, String path, String body) {
    try {
      HttpURLConnection connection =
          (HttpURLConnection)
              URI.create("http://127.0.0.1:" + gateway.port() + path).toURL().openConnection();
      connection.setConnectTimeout(TIMEOUT_MS);
      connection.setReadTimeout(TIMEOUT_MS);
      connection.setRequestProperty("content-type", "application/json");
      connection.setDoOutput(true);
      connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
      try (InputStream reply = connection.getInputStream()) {
        reply.readAllBytes();
        return true;
      }
    } catch (IOException e) {
      return false;
    }
  }

  /** The engine publishes the blocks a moment later. */
  private static void awaitEvents(ModelFleet fleet) {
    long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(EVENTS_MS);
    while (fleet.inexactWorkers().containsValue(InexactCause.EVENTS_SILENT)
        && System.nanoTime() - endNs < 0) {
      try {
        Thread.sleep(POLL_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
