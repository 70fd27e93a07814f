package io.kvasir.gateway.route;

import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How exactly a model's requests are routed, for each endpoint, and why not better: the worst of
 * what its tokens and its workers allow. The log says a change at once; of an endpoint that changes
 * again and again it says fewer and fewer, at last one an hour.
 *
 * <p>Thread-safe.
 */
public final class RoutingExactness {

  private static final Logger LOG = LoggerFactory.getLogger(RoutingExactness.class);
  private static final long QUIET_NS = TimeUnit.MINUTES.toNanos(1);
  private static final int MAX_DOUBLINGS = 6;

  private final Map<String, EndpointTokens> endpoints = new ConcurrentSkipListMap<>();
  private final Map<String, Logged> logged = new ConcurrentSkipListMap<>();
  private final LongSupplier clockNs;

  /**
   * A state with its cause.
   *
   * @param exactness the state
   * @param cause why it is not better; null if it is exact
   * @param worker the worker with the cause; null for tokens
   */
  public record State(Exactness exactness, @Nullable InexactCause cause, @Nullable String worker) {

    private static final State EXACT = new State(Exactness.EXACT, null, null);

    private boolean isWorseThan(State other) {
      return exactness.compareTo(other.exactness) > 0;
    }

    @Override
    public String toString() {
      return exactness.id()
          + (cause == null ? "" : ": " + cause.code())
          + (worker == null ? "" : " of worker " + worker);
    }
  }

  private record Logged(State state, long atNs, int changes) {

    /** Whether the next change is too soon. */
    boolean isQuiet(long nowNs) {
      return changes > 0 && nowNs - atNs < QUIET_NS << Math.min(changes - 1, MAX_DOUBLINGS);
    }
  }

  /** Begins without requests. */
  public RoutingExactness() {
    this(System::nanoTime);
  }

  /**
   * Begins without requests.
   *
   * @param clockNs a clock in nanoseconds
   */
  RoutingExactness(LongSupplier clockNs) {
    this.clockNs = clockNs;
  }

  /**
   * A request is placed.
   *
   * @param endpoint its endpoint's name in metrics
   * @param path its endpoint's path
   * @param missing why its tokens are not known; null if they are
   */
  public void onPlaced(String endpoint, String path, @Nullable InexactCause missing) {
    endpoints.computeIfAbsent(endpoint, name -> new EndpointTokens(name, path)).onPlaced(missing);
  }

  /** {@return the tokens of each endpoint that was used} */
  public Collection<EndpointTokens> endpoints() {
    return endpoints.values();
  }

  /**
   * {@return the state of an endpoint}
   *
   * @param tokens its tokens
   * @param workers the worst cause of each worker that has one, by its name
   */
  static State state(EndpointTokens tokens, Map<String, InexactCause> workers) {
    InexactCause lack = tokens.cause();
    State worst = lack == null ? State.EXACT : new State(tokens.exactness(), lack, null);
    for (Map.Entry<String, InexactCause> worker : workers.entrySet()) {
      InexactCause cause = worker.getValue();
      State state = new State(cause.exactness(), cause, worker.getKey());
      worst = state.isWorseThan(worst) ? state : worst;
    }
    return worst;
  }

  /**
   * Logs what has changed.
   *
   * @param model the model
   * @param now the state of an endpoint
   */
  void log(String model, Function<EndpointTokens, State> now) {
    long atNs = clockNs.getAsLong();
    for (EndpointTokens tokens : endpoints.values()) {
      State state = now.apply(tokens);
      Logged before = logged.get(tokens.endpoint());
      State known = before == null ? State.EXACT : before.state;
      boolean quiet = before != null && before.isQuiet(atNs);
      if (!quiet && !Objects.equals(state, known)) {
        int changes = before == null ? 0 : before.changes + 1;
        logged.put(tokens.endpoint(), new Logged(state, atNs, changes));
        if (state.exactness() == Exactness.EXACT) {
          LOG.info("model {}: {} is routed exactly", model, tokens.endpoint());
        } else {
          LOG.warn(
              "model {}: {} is routed {} (docs/troubleshooting.md)",
              model,
              tokens.endpoint(),
              state);
        }
      }
    }
  }
}
