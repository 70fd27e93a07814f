package io.kvasir.fleet.router.trtllm;

/**
 * One request's server, and the handle by which the request is finished.
 *
 * <p>What can be read is immutable. A choice is known by its identity: it is finished once, by the
 * router that made it.
 */
public final class ServeChoice {

  private final Explanation explanation;
  private final Server server;
  private final long weight;
  private final PromptKeys keys;
  private LoadKeepingRouter<?> router;

  ServeChoice(
      LoadKeepingRouter<?> router,
      Server server,
      long weight,
      PromptKeys keys,
      Explanation explanation) {
    this.router = router;
    this.server = server;
    this.weight = weight;
    this.keys = keys;
    this.explanation = explanation;
  }

  /**
   * The chosen server.
   *
   * @return its name
   */
  public String server() {
    return server.name();
  }

  /**
   * What the router knew.
   *
   * @return the explanation
   */
  public Explanation explanation() {
    return explanation;
  }

  /** The server as it was known then: one of the same name that came later is another. */
  Server entry() {
    return server;
  }

  /** Load that the request puts on its server. */
  long weight() {
    return weight;
  }

  /** Block keys of the prompt, or null. */
  PromptKeys keys() {
    return keys;
  }

  /** Ends the choice; true once, for its own router. Under the router's lock. */
  boolean end(LoadKeepingRouter<?> by) {
    boolean open = router == by;
    if (open) {
      router = null;
    }
    return open;
  }

  @Override
  public String toString() {
    return explanation.reason().id() + " " + server();
  }
}
