package io.kvasir.benchmarks.proxy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A gateway that matches the blocks of its requests: the stub engine's tokens are held by both
 * ranks of a stand-in, whose events the gateway follows. Requests go to the stub engine, which is
 * fast enough to show what the gateway costs.
 *
 * <p>Confined to one thread.
 */
final class MatchingServers {

  private static final int TRIES = 300;
  private static final int TRY_AGAIN_MS = 200;
  private static final int REPLAY_OFFSET = KvasirCommands.RANKS;

  /** Enough for the longest prompt of the load generator's requests. */
  private static final int PROMPT_BYTES = 2_048;

  private static final Pattern TOKENS = Pattern.compile("\"tokens\":(\\[[0-9,]+])");
  private static final Pattern RANK_WITH_BLOCKS = Pattern.compile("\"blocks\"\\s*:\\s*[1-9]");

  private final HttpClient http = HttpClient.newHttpClient();
  private final ServerProcess gateway;

  /**
   * Starts the stand-in and the gateway, and waits until the gateway has the blocks.
   *
   * @param engine the stub engine
   * @param commands how they are started
   * @param folder receives their output
   * @param servers receives the servers, which the caller closes
   */
  MatchingServers(
      ServerProcess engine, KvasirCommands commands, Path folder, Consumer<ServerProcess> servers)
      throws IOException {
    int port = Tools.freePort();
    int events = Tools.freePorts(KvasirCommands.RANKS + REPLAY_OFFSET);
    int replay = events + REPLAY_OFFSET;
    ServerProcess publisher =
        ServerProcess.start(
            "the stand-in",
            port,
            commands.publisher(port, events, replay),
            folder.resolve("stand-in.log"));
    servers.accept(publisher);
    int gatewayPort = Tools.freePort();
    int admin = Tools.freePort();
    gateway =
        ServerProcess.start(
            "the gateway with matching",
            gatewayPort,
            commands.gateway(gatewayPort, admin, engine.port(), events, replay),
            folder.resolve("matching.log"));
    servers.accept(gateway);
    await(publisher, () -> get(publisher.port(), "/health") != null);
    store(engine, publisher);
    await(gateway, () -> followed(admin));
  }

  ServerProcess gateway() {
    return gateway;
  }

  /**
   * Lets every rank of the stand-in compute, and so publish, a prompt of the stub engine's tokens.
   */
  private void store(ServerProcess engine, ServerProcess publisher) throws IOException {
    Matcher tokens = TOKENS.matcher(post(engine.port(), "/tokenize", " ".repeat(PROMPT_BYTES), ""));
    if (!tokens.find()) {
      throw new IOException("the stub engine has no tokens");
    }
    String body = "{\"prompt\":" + tokens.group(1) + ",\"max_tokens\":1}";
    for (int rank = 0; rank < KvasirCommands.RANKS; rank++) {
      post(publisher.port(), "/v1/completions", body, Integer.toString(rank));
    }
  }

  private boolean followed(int adminPort) throws IOException {
    String ranks = get(adminPort, "/kvasir/ranks");
    return ranks != null
        && RANK_WITH_BLOCKS.matcher(ranks).results().count() == KvasirCommands.RANKS;
  }

  /** A condition that may not be met yet. */
  private interface Condition {
    boolean met() throws IOException;
  }

  private static void await(ServerProcess server, Condition condition) throws IOException {
    for (int i = 0; i < TRIES; i++) {
      server.check();
      try {
        if (condition.met()) {
          return;
        }
      } catch (IOException e) {
        // It does not listen yet.
      }
      Tools.sleep(TRY_AGAIN_MS);
    }
    throw new IOException(server.name() + " is not ready" + server.lastLines());
  }

  /** The answer's body; null if its status is not 200. */
  private @Nullable String get(int port, String path) throws IOException {
    HttpResponse<String> answer = send(HttpRequest.newBuilder(uri(port, path)).build());
    return answer.statusCode() == 200 ? answer.body() : null;
  }

  private String post(int port, String path, String body, String rank) throws IOException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri(port, path))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (!rank.isEmpty()) {
      request.header("X-data-parallel-rank", rank);
    }
    HttpResponse<String> answer = send(request.build());
    if (answer.statusCode() != 200) {
      throw new IOException(path + ": " + answer.body());
    }
    return answer.body();
  }

  private static URI uri(int port, String path) {
    return URI.create("http://127.0.0.1:" + port + path);
  }

  private HttpResponse<String> send(HttpRequest request) throws IOException {
    try {
      return http.send(request, HttpResponse.BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    }
  }
}
