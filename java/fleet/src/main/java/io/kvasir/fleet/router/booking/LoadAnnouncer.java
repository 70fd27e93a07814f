package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.load.LoadMessage;
import io.kvasir.fleet.load.SequenceLoad;
import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reports the router's own placements to other routers in front of the same ranks. Guarded by the
 * router's lock.
 */
final class LoadAnnouncer {

  private final Long2ObjectOpenHashMap<Placed> inFlight = new Long2ObjectOpenHashMap<>();
  private @Nullable Consumer<LoadMessage> out;

  /** An attempt in flight that was reported. */
  private static final class Placed {
    final long requestId;
    final RankId rank;
    boolean prefilled;

    Placed(long requestId, RankId rank) {
      this.requestId = requestId;
      this.rank = rank;
    }
  }

  /** Reports what is placed from now on. */
  void reportTo(Consumer<LoadMessage> receiver) {
    out = receiver;
  }

  void placed(long requestId, long attempt, RankId rank, SequenceLoad load) {
    if (out != null) {
      inFlight.put(attempt, new Placed(requestId, rank));
      report(out, attempt, requestId, rank, new LoadMessage.Added(load));
    }
  }

  void prefillDone(long attempt) {
    Placed placed = inFlight.get(attempt);
    if (placed != null && out != null && !placed.prefilled) {
      placed.prefilled = true;
      report(out, attempt, placed.requestId, placed.rank, new LoadMessage.PrefillDone());
    }
  }

  void ended(long attempt) {
    Placed placed = inFlight.remove(attempt);
    if (placed != null && out != null) {
      report(out, attempt, placed.requestId, placed.rank, new LoadMessage.Freed());
    }
  }

  private static void report(
      Consumer<LoadMessage> out,
      long attempt,
      long requestId,
      RankId rank,
      LoadMessage.Change change) {
    out.accept(new LoadMessage(requestId, attempt, rank, "", change));
  }
}
