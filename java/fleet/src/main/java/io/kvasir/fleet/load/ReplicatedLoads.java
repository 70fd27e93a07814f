package io.kvasir.fleet.load;

import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongIterator;
import java.util.function.LongSupplier;

/**
 * Books the placements that other routers report in messages.
 *
 * <p>Attempts of a router begin in the order of their numbers. A message whose attempt is not above
 * all earlier ones is a late copy and cannot restore a request that has ended. The effect of a lost
 * message ends when its request is stale. Output tokens of other routers' requests are not
 * reported.
 *
 * <p>Not thread-safe: guarded by the lock of its {@link ActiveSequences}. A message costs what the
 * same call there costs. Memory is in proportion to the attempts in flight, and the routers.
 */
public final class ReplicatedLoads {

  private static final int MIN_PRUNED = 1024;

  /** Attempts of one other router. */
  private static final class Router {
    final Long2LongOpenHashMap local = new Long2LongOpenHashMap();
    long lastAttempt;
    long seenNs;
    int pruneAt = MIN_PRUNED;
  }

  private final long routerId;
  private final ActiveSequences sequences;
  private final LongSupplier clockNs;
  private final Long2ObjectOpenHashMap<Router> routers = new Long2ObjectOpenHashMap<>();
  private long applied;
  private long echoes;
  private long copies;
  private long unknown;
  private long refused;

  /**
   * Makes a booker that knows no other router.
   *
   * @param routerId this router, whose own messages are passed over
   * @param sequences where to book
   * @param clockNs a clock that does not go back, in nanoseconds
   */
  public ReplicatedLoads(long routerId, ActiveSequences sequences, LongSupplier clockNs) {
    this.routerId = routerId;
    this.sequences = sequences;
    this.clockNs = clockNs;
  }

  /**
   * Applies a frame that came in. One without messages says that its router is there.
   *
   * @param bytes what came
   * @throws IllegalArgumentException if it is no frame; nothing has changed then, but the count
   */
  public void onFrame(byte[] bytes) {
    LoadFrame frame;
    try {
      frame = LoadFrame.decode(bytes);
    } catch (IllegalArgumentException e) {
      refused++;
      throw e;
    }
    if (frame.routerId() == routerId) {
      echoes += frame.messages().size();
      return;
    }
    Router router = routers.computeIfAbsent(frame.routerId(), id -> new Router());
    router.seenNs = clockNs.getAsLong();
    for (LoadMessage message : frame.messages()) {
      apply(router, message);
    }
  }

  private void apply(Router router, LoadMessage message) {
    long attempt = message.attempt();
    if (message.change() instanceof LoadMessage.Added added) {
      add(router, attempt, message, added.load());
    } else if (message.change() instanceof LoadMessage.Freed) {
      count(sequences.free(router.local.remove(attempt)));
    } else {
      count(sequences.prefillDone(router.local.get(attempt)));
    }
  }

  private void add(Router router, long attempt, LoadMessage message, SequenceLoad load) {
    if (attempt <= router.lastAttempt) {
      copies++;
      return;
    }
    router.lastAttempt = attempt;
    try {
      router.local.put(attempt, sequences.addForeign(message.rank(), load));
      applied++;
    } catch (IllegalArgumentException e) {
      refused++; // a rank that is not known here, or other blocks than here
    }
    if (router.local.size() >= router.pruneAt) {
      prune(router);
    }
  }

  private void count(boolean known) {
    if (known) {
      applied++;
    } else {
      unknown++;
    }
  }

  /** Forgets attempts that have ended here without a message. */
  private void prune(Router router) {
    router.local.long2LongEntrySet().removeIf(entry -> !sequences.inFlight(entry.getLongValue()));
    router.local.trim();
    router.pruneAt = Math.max(MIN_PRUNED, 2 * router.local.size());
  }

  /**
   * Ends everything that a router has placed, because it is gone. O(its attempts + their blocks).
   *
   * @param goneRouterId which
   * @return how many attempts ended
   */
  public int removeRouter(long goneRouterId) {
    Router router = routers.remove(goneRouterId);
    if (router == null) {
      return 0;
    }
    int ended = 0;
    for (LongIterator attempts = router.local.values().iterator(); attempts.hasNext(); ) {
      ended += sequences.free(attempts.nextLong()) ? 1 : 0;
    }
    return ended;
  }

  /**
   * Ends everything that routers have placed which are gone.
   *
   * @param silentNs time without a frame after which a router counts as gone, in nanoseconds
   * @return how many are gone
   */
  public int removeSilent(long silentNs) {
    long nowNs = clockNs.getAsLong();
    LongArrayList gone = new LongArrayList();
    routers.forEach(
        (id, router) -> {
          if (nowNs - router.seenNs > silentNs) {
            gone.add(id);
          }
        });
    gone.forEach(this::removeRouter);
    return gone.size();
  }

  /** {@return a snapshot of the counts so far} */
  public Stats stats() {
    int attempts = 0;
    for (Router router : routers.values()) {
      attempts += router.local.size();
    }
    return new Stats(routers.size(), attempts, applied, echoes, copies, unknown, refused);
  }

  /**
   * What has come in so far. Immutable.
   *
   * @param routers other routers known
   * @param attempts attempts of theirs that are remembered
   * @param applied messages that took effect
   * @param echoes own messages that came back
   * @param copies placements that came again
   * @param unknown other messages about attempts that are not in flight here
   * @param refused frames that were none, and placements on unknown ranks or with other block sizes
   */
  public record Stats(
      int routers,
      int attempts,
      long applied,
      long echoes,
      long copies,
      long unknown,
      long refused) {}
}
