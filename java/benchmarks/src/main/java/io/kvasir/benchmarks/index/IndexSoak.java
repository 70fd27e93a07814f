package io.kvasir.benchmarks.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.ChangeStatus;
import io.kvasir.fleet.index.IndexStats;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.model.Checks;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs workers that join, compute, evict, clear and leave, in virtual time and with one change
 * after the other. Every answer and every total is compared with {@link SoakModel}.
 *
 * <p>Used once; confined to the calling thread.
 */
public final class IndexSoak {

  private static final int CHECKPOINTS = 20;
  private static final int OPERATIONS_PER_LEAVING = 2_000;
  private static final int OPERATIONS_PER_CLEAR = 2_000;
  private static final int OPERATIONS_PER_DOCUMENT = 200;
  private static final int OPERATIONS_PER_MATCH = 8;

  private final SoakModel model;
  private final long seed;
  private final long wantedEvents;
  private final RankMatches matches = new RankMatches();
  private final List<SoakCheckpoint> checkpoints = new ArrayList<>();
  private long events;
  private long answers;
  private long churned;

  /**
   * Creates a soak.
   *
   * @param seed the seed of all randomness
   * @param blockEvents stored and removed blocks after which it ends, at least 1
   */
  public IndexSoak(long seed, long blockEvents) {
    Checks.atLeast("blockEvents", blockEvents, 1);
    this.model = new SoakModel(seed);
    this.seed = seed;
    this.wantedEvents = blockEvents;
  }

  /**
   * Runs the soak. O(block events).
   *
   * @param kind the index
   * @return memory figures during the run
   * @throws IllegalStateException if an answer, a status or a total is wrong
   */
  public SoakFigures run(IndexKind kind) {
    long begin = System.nanoTime();
    try (PrefixIndex index = kind.create()) {
      for (int i = 1; i <= CHECKPOINTS; i++) {
        long until = wantedEvents / CHECKPOINTS * i + wantedEvents % CHECKPOINTS * i / CHECKPOINTS;
        while (events < until) {
          step(index);
        }
        checkpoint(index);
      }
    }
    return new SoakFigures(
        kind, events, System.nanoTime() - begin, churned, answers, List.copyOf(checkpoints));
  }

  private void step(PrefixIndex index) {
    int worker = model.randomWorker();
    int document = model.randomDocument();
    if (model.oneIn(OPERATIONS_PER_LEAVING)) {
      index.removeRank(model.id(worker));
      model.join(worker);
      churned++;
    } else if (model.oneIn(OPERATIONS_PER_CLEAR)) {
      index.apply(model.id(worker), new BlockEvent.Cleared());
      model.forget(worker);
      churned++;
    } else if (model.oneIn(OPERATIONS_PER_DOCUMENT)) {
      for (int holder = 0; holder < SoakModel.WORKERS; holder++) {
        apply(index, holder, model.trim(holder, document, true));
      }
      model.replaceContent(document);
    } else {
      while (model.isFull(worker)) {
        apply(index, worker, model.trim(worker, model.heldDocument(worker), false));
      }
      apply(index, worker, model.extend(worker, document));
    }
    if (model.oneIn(OPERATIONS_PER_MATCH)) {
      check(index, document);
    }
  }

  private void apply(PrefixIndex index, int worker, @Nullable BlockEvent change) {
    if (change == null) {
      return;
    }
    ChangeStatus status = index.apply(model.id(worker), change);
    if (status != ChangeStatus.APPLIED) {
      throw wrong("a change of worker " + model.id(worker) + " was " + status);
    }
    events +=
        change instanceof BlockEvent.Stored stored
            ? stored.handles().length
            : ((BlockEvent.Removed) change).handles().length;
  }

  private void check(PrefixIndex index, int document) {
    index.match(model.sequence(document), SoakModel.DOCUMENT_BLOCKS, matches);
    int holders = 0;
    for (int worker = 0; worker < SoakModel.WORKERS; worker++) {
      int held = model.held(worker, document);
      if (matches.blocks(model.id(worker)) != held) {
        throw wrong(
            "worker "
                + model.id(worker)
                + " matched "
                + matches.blocks(model.id(worker))
                + " blocks of "
                + held);
      }
      holders += held > 0 ? 1 : 0;
    }
    if (matches.size() != holders) {
      throw wrong(matches.size() + " workers matched of " + holders);
    }
    answers++;
  }

  private void checkpoint(PrefixIndex index) {
    IndexStats stats = index.stats();
    if (stats.memberships() != model.memberships()
        || stats.distinctBlocks() != model.distinctBlocks()) {
      throw wrong(
          String.format(
              "%d memberships of %d, %d distinct blocks of %d",
              stats.memberships(),
              model.memberships(),
              stats.distinctBlocks(),
              model.distinctBlocks()));
    }
    checkpoints.add(new SoakCheckpoint(events, ResidentMemory.of(stats)));
  }

  private IllegalStateException wrong(String what) {
    return new IllegalStateException(
        "the index is wrong after " + events + " block events with seed " + seed + ": " + what);
  }
}
