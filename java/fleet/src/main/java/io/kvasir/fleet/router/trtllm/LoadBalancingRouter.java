package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.Prompt;
import java.util.List;

/**
 * Takes the server with the least load: requests, or the size of their prompts. Equal ones take
 * turns.
 *
 * <p>Thread-safe. O(servers) a choice, and O(characters) by prompt size.
 */
public final class LoadBalancingRouter extends LoadKeepingRouter<Server> {

  private final boolean useTokens;

  /**
   * Makes a router.
   *
   * @param servers the servers it begins with
   * @param useTokens whether load is the size of prompts: tokens, or characters of a text
   */
  public LoadBalancingRouter(List<String> servers, boolean useTokens) {
    this.useTokens = useTokens;
    servers.forEach(this::addServer);
  }

  @Override
  public String name() {
    return ServeRouterKind.LOAD_BALANCING.id();
  }

  @Override
  Server newServer(String name) {
    return new Server(name);
  }

  @Override
  public ServeChoice next(ServeRequest request, String excluded) {
    long weight = useTokens ? promptSize(request) : 1;
    synchronized (lock()) {
      Server server = cheapest(candidates(excluded), Server::load);
      return take(server, weight, null, Explanation.of(ServeReason.LOAD));
    }
  }

  private static long promptSize(ServeRequest request) {
    if (request.generationOnly()) {
      throw new IllegalArgumentException(
          "load_balancing with use_tokens cannot weigh a generation_only request");
    }
    Prompt prompt = request.prompt();
    if (prompt instanceof Prompt.Texts texts) {
      return texts.texts().stream().mapToLong(text -> text.codePointCount(0, text.length())).sum();
    }
    if (prompt instanceof Prompt.Tokens tokens) {
      return tokens.sequences().stream().mapToLong(sequence -> sequence.length).sum();
    }
    throw new IllegalArgumentException(
        "load_balancing with use_tokens cannot weigh a chat request: prompt must be text or tokens");
  }
}
