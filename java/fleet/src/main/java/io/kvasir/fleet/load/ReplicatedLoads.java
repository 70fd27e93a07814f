package io.kvasir.fleet.load;

import io.kvasir.model.Checks;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongLinkedOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Books the placements that other routers report, and states what this router has in flight.
 *
 * <p>Messages report each change at once. Attempts of a router begin in the order of their numbers.
 * A message whose attempt is not above all earlier ones is a late copy and cannot restore a request
 * that has ended. {@linkplain LoadStatement Statements}, to be sent at intervals by {@link #state},
 * repair what lost messages leave behind: what is not stated any more has ended, and placements
 * that are missing here are {@linkplain LoadRequest asked for}. All routers read an answer, so each
 * attempt is reported at most once between two statements, however many routers ask for it; what
 * exceeds the limits is reported after the next statement. Statements are also signs of life,
 * without which a booking ends when it is stale, and they say how many tokens have streamed.
 *
 * <p>Not thread-safe: guarded by the lock of its {@link ActiveSequences}. A message costs what the
 * same call there costs. Memory is in proportion to the attempts in flight, and the routers; both
 * are limited.
 */
public final class ReplicatedLoads {

  /** Most other routers; frames of further ones are refused. */
  public static final int MAX_ROUTERS = 64;

  /** Attempts that are asked for, of each router, between two statements. */
  private static final int MOST_ASKED = LoadRequest.MAX_ATTEMPTS;

  /** Blocks that are reported again between two statements. */
  private static final long MOST_ANSWERED = 1 << 20;

  /** Requests in flight, and different blocks of them, above which nothing of others is booked. */
  private static final int MOST_REQUESTS = 1 << 20;

  private static final long MOST_BLOCKS = 1 << 25;

  private final long routerId;
  private final ActiveSequences sequences;
  private final LongSupplier clockNs;
  private final Consumer<LoadMessage> out;
  private final int mostRequests;
  private final long mostBlocks;
  private final Long2ObjectOpenHashMap<OtherRouter> routers = new Long2ObjectOpenHashMap<>();

  /** Attempts that have been reported again since the last statement. */
  private final LongOpenHashSet reported = new LongOpenHashSet();

  /** Attempts that are to be reported again from the next statement on, in order. */
  private final LongLinkedOpenHashSet owed = new LongLinkedOpenHashSet();

  private long answered;
  private long applied;
  private long echoes;
  private long copies;
  private long unknown;
  private long refused;

  /**
   * Makes a booker without other routers.
   *
   * @param routerId this router, whose own messages are passed over
   * @param sequences where to book, and what this router states
   * @param clockNs a clock that does not go back, in nanoseconds
   * @param out receives the placements that other routers ask for; it must be quick and must not
   *     wait
   */
  public ReplicatedLoads(
      long routerId, ActiveSequences sequences, LongSupplier clockNs, Consumer<LoadMessage> out) {
    this(routerId, sequences, clockNs, out, MOST_REQUESTS, MOST_BLOCKS);
  }

  /** Makes a booker with other limits of what is in flight. */
  ReplicatedLoads(
      long routerId,
      ActiveSequences sequences,
      LongSupplier clockNs,
      Consumer<LoadMessage> out,
      int mostRequests,
      long mostBlocks) {
    this.routerId = routerId;
    this.sequences = sequences;
    this.clockNs = clockNs;
    this.out = out;
    this.mostRequests = mostRequests;
    this.mostBlocks = mostBlocks;
  }

  /**
   * Applies a part of a frame that came in. A {@link LoadFrame} without messages says that its
   * router is there.
   *
   * @param part the part
   * @throws IllegalArgumentException if it is of one router too many; nothing has changed then, but
   *     the count
   */
  public void apply(ReplicaFrame part) {
    try {
      if (part instanceof LoadStatement statement) {
        apply(statement);
      } else if (part instanceof LoadRequest request) {
        apply(request);
      } else if (part instanceof LoadFrame frame) {
        apply(frame);
      }
    } catch (IllegalArgumentException e) {
      refuse();
      throw e;
    }
  }

  /** Counts a frame that cannot be read. */
  public void refuse() {
    refused++;
  }

  private void apply(LoadFrame frame) {
    if (frame.routerId() == routerId) {
      echoes += frame.messages().size();
      return;
    }
    OtherRouter router = router(frame.routerId());
    for (LoadMessage message : frame.messages()) {
      apply(router, message);
    }
  }

  private void apply(LoadStatement part) {
    if (part.routerId() == routerId) {
      echoes++;
    } else {
      router(part.routerId()).stated(part);
    }
  }

  private void apply(LoadRequest request) {
    if (request.routerId() == routerId) {
      echoes++;
    } else if (request.ofRouterId() == routerId) {
      for (long attempt : request.attempts()) {
        report(attempt);
      }
    }
  }

  /** Reports the placement of an own attempt again, now or later, unless it has ended. */
  private void report(long attempt) {
    if (answered >= MOST_ANSWERED) {
      if (owed.size() < OtherRouter.MOST && sequences.isOwn(attempt)) {
        owed.add(attempt);
      }
      return;
    }
    LoadMessage placed = reported.contains(attempt) ? null : sequences.report(attempt);
    if (placed != null && placed.change() instanceof LoadMessage.Added added) {
      reported.add(attempt);
      out.accept(placed);
      answered += 1 + added.load().blocks();
    }
  }

  /** Reports what was too much before. */
  private void reportOwed() {
    answered = 0;
    reported.clear();
    while (!owed.isEmpty() && answered < MOST_ANSWERED) {
      report(owed.removeFirstLong());
    }
  }

  /** The router that has sent a frame now. */
  private OtherRouter router(long id) {
    OtherRouter router = routers.get(id);
    if (router == null) {
      Checks.within("other routers", routers.size() + 1, 0, MAX_ROUTERS);
      router = new OtherRouter(sequences);
      routers.put(id, router);
    }
    router.seenNs = clockNs.getAsLong();
    return router;
  }

  private void apply(OtherRouter router, LoadMessage message) {
    long attempt = message.attempt();
    if (message.change() instanceof LoadMessage.Added added) {
      add(router, attempt, message, added.load());
    } else if (message.change() instanceof LoadMessage.Freed) {
      count(router.freed(attempt));
    } else {
      count(router.prefillDone(attempt));
    }
  }

  private void add(OtherRouter router, long attempt, LoadMessage message, SequenceLoad load) {
    if (!router.takes(attempt)) {
      copies++;
      return;
    }
    router.placed(attempt);
    ActiveSequencesStats held = sequences.stats();
    if (held.requests() >= mostRequests || held.liveBlocks() + load.blocks() > mostBlocks) {
      refused++;
      router.refused(attempt);
      return;
    }
    try {
      router.booked(attempt, sequences.addForeign(message.rank(), load));
      applied++;
    } catch (IllegalArgumentException e) {
      refused++; // a rank that is not known here, or other blocks than here
      router.refused(attempt);
    }
  }

  private void count(boolean known) {
    if (known) {
      applied++;
    } else {
      unknown++;
    }
  }

  /**
   * States what this router has in flight, and asks other routers for placements that they have
   * stated and that are missing here. To be called at equal intervals, each second for example.
   * O(own attempts x log(own attempts) + missing ones).
   *
   * @return frames for all other routers, each below 100 kB
   */
  public List<byte[]> state() {
    reportOwed();
    List<byte[]> frames = new ArrayList<>();
    LoadStatement.of(routerId, sequences.own(), sequences.lastAttempt())
        .forEach(part -> frames.add(part.encode()));
    routers.forEach(
        (id, router) -> {
          LongArrayList wanted = router.ask(MOST_ASKED);
          if (!wanted.isEmpty()) {
            frames.add(new LoadRequest(routerId, id, wanted.toLongArray()).encode());
          }
        });
    return frames;
  }

  /**
   * Ends everything that a router has placed, because it is gone. O(its attempts + their blocks).
   *
   * @param goneRouterId which
   * @return how many attempts ended
   */
  public int removeRouter(long goneRouterId) {
    OtherRouter router = routers.remove(goneRouterId);
    return router == null ? 0 : router.end();
  }

  /**
   * Ends all requests placed by routers that have been silent for too long. If such a router still
   * runs, its next statement restores what it has in flight.
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
    for (OtherRouter router : routers.values()) {
      attempts += router.attempts();
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
   * @param copies placements that came again, or were too many of one router
   * @param unknown other messages about attempts that are not in flight here
   * @param refused frames that were none, and placements on unknown ranks, with other block sizes
   *     or beyond the limits
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
