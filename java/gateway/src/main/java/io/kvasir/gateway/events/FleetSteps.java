package io.kvasir.gateway.events;

import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.wire.ForwardPassReader;
import io.kvasir.model.RankId;
import io.kvasir.timing.ForwardPass;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steps that the engines of one model report: reads them and passes them to the model's router,
 * which learns from them.
 *
 * <p>Thread-safe. The router is called on the thread of the {@link EventPump}.
 */
public final class FleetSteps {

  private static final Logger LOG = LoggerFactory.getLogger(FleetSteps.class);

  private final EventPump pump;
  private final FleetRouter router;
  private final Map<RankId, Sink> sinks = new ConcurrentHashMap<>();

  /**
   * How many steps a rank has reported.
   *
   * @param steps steps that the router has seen
   * @param skipped messages that could not be read, or that named another rank
   */
  public record Counts(long steps, long skipped) {}

  /**
   * Begins without ranks.
   *
   * @param pump receives the steps
   * @param router learns from them
   */
  public FleetSteps(EventPump pump, FleetRouter router) {
    this.pump = pump;
    this.router = router;
  }

  /**
   * Follows a rank from now on.
   *
   * @param rank the rank at the router
   * @param endpoint where it publishes, {@code tcp://HOST:PORT}
   * @param namedRank the data-parallel rank that its messages name
   */
  public void addRank(RankId rank, String endpoint, int namedRank) {
    removeRank(rank);
    Sink sink = new Sink(rank, endpoint, namedRank);
    sinks.put(rank, sink);
    pump.follow(new FeedSpec(rank, endpoint, null, "", false), sink);
  }

  /**
   * Follows a rank no longer.
   *
   * @param rank the rank; ignored if unknown
   */
  public void removeRank(RankId rank) {
    Sink sink = sinks.remove(rank);
    if (sink != null) {
      pump.unfollow(sink);
    }
  }

  /**
   * {@return what a rank has reported so far; null if it is not followed}
   *
   * @param rank the rank
   */
  public @Nullable Counts counts(RankId rank) {
    Sink sink = sinks.get(rank);
    return sink == null ? null : new Counts(sink.steps.sum(), sink.skipped.sum());
  }

  private final class Sink implements Consumer<byte[]> {

    private final RankId rank;
    private final String endpoint;
    private final int namedRank;
    private final ForwardPassReader reader = new ForwardPassReader();
    private final LongAdder steps = new LongAdder();
    private final LongAdder skipped = new LongAdder();
    private boolean warned;

    Sink(RankId rank, String endpoint, int namedRank) {
      this.rank = rank;
      this.endpoint = endpoint;
      this.namedRank = namedRank;
    }

    @Override
    public void accept(byte[] payload) {
      ForwardPass pass = reader.read(payload);
      if (pass == null || reader.dpRank() != namedRank) {
        skipped.increment();
        if (!warned) {
          warned = true;
          LOG.warn(
              "{}: {}; such messages are ignored",
              endpoint,
              pass == null
                  ? "a message is no forward-pass metrics of version 1"
                  : "forward-pass metrics name rank " + reader.dpRank() + ", not " + namedRank);
        }
      } else if (pass.durationNs() > 0) {
        steps.increment();
        router.onForwardPass(rank, pass);
      }
    }
  }
}
