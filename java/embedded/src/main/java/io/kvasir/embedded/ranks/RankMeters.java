package io.kvasir.embedded.ranks;

import io.kvasir.embedded.ranks.Sequence.Stage;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** Counts of sequences and tokens. The loop's thread writes, any thread reads. */
public final class RankMeters {

  private final int ranks;
  private final AtomicIntegerArray running;

  /** By rank; the last element counts the worker's queue. */
  private final AtomicIntegerArray waiting;

  private final AtomicIntegerArray retired;
  private final AtomicLongArray queriedTokens;
  private final AtomicLongArray matchedTokens;
  private final AtomicLongArray promptTokens;
  private final AtomicLongArray outputTokens;
  private final AtomicLongArray preemptions;
  private final AtomicLongArray finished;
  private final AtomicIntegerArray pinned;
  private final AtomicIntegerArray arriving;
  private final AtomicLong iterations = new AtomicLong();

  RankMeters(int ranks) {
    this.ranks = ranks;
    this.running = new AtomicIntegerArray(ranks);
    this.waiting = new AtomicIntegerArray(ranks + 1);
    this.retired = new AtomicIntegerArray(ranks);
    this.queriedTokens = new AtomicLongArray(ranks);
    this.matchedTokens = new AtomicLongArray(ranks);
    this.promptTokens = new AtomicLongArray(ranks);
    this.outputTokens = new AtomicLongArray(ranks);
    this.preemptions = new AtomicLongArray(ranks);
    this.finished = new AtomicLongArray(ranks);
    this.pinned = new AtomicIntegerArray(ranks);
    this.arriving = new AtomicIntegerArray(ranks);
  }

  /** Moves a sequence to another stage; the rank is ignored outside of ranks. */
  void move(Sequence sequence, Stage stage, int rank) {
    count(sequence.stage, sequence.rank, -1);
    count(stage, rank, 1);
    sequence.stage = stage;
    sequence.rank = rank;
  }

  private void count(Stage stage, int rank, int change) {
    switch (stage) {
      case QUEUED -> waiting.addAndGet(ranks, change);
      case PLACED -> waiting.addAndGet(rank, change);
      case RUNNING -> running.addAndGet(rank, change);
      case OUTSIDE -> {}
    }
  }

  void onStarted(int rank, int prompt, int matched) {
    queriedTokens.addAndGet(rank, prompt);
    matchedTokens.addAndGet(rank, matched);
  }

  void onToken(int rank, int index, int prompt) {
    outputTokens.incrementAndGet(rank);
    if (index == 0) {
      promptTokens.addAndGet(rank, prompt);
    }
  }

  void onPaused(int rank) {
    preemptions.incrementAndGet(rank);
  }

  void onHeld(BlockHold.Purpose purpose, int rank, int blocks) {
    (purpose == BlockHold.Purpose.PINNED ? pinned : arriving).addAndGet(rank, blocks);
  }

  void onFinished(int rank) {
    finished.incrementAndGet(rank);
  }

  void onRetired(int rank) {
    retired.set(rank, 1);
  }

  void onIteration() {
    iterations.incrementAndGet();
  }

  /**
   * {@return the blocks of a rank that other engines are to fetch}
   *
   * @param rank the rank
   */
  public int pinnedBlocks(int rank) {
    return pinned.get(rank);
  }

  /**
   * {@return the blocks of a rank that are to come from other engines, or have come for requests
   * that do not run yet}
   *
   * @param rank the rank
   */
  public int arrivingBlocks(int rank) {
    return arriving.get(rank);
  }

  /**
   * {@return the number of sequences that run on a rank}
   *
   * @param rank the rank
   */
  public int running(int rank) {
    return running.get(rank);
  }

  /**
   * {@return the number of sequences that wait on a rank, with the rank's equal share of the
   * worker's queue}
   *
   * @param rank the rank
   */
  public int waiting(int rank) {
    int queued = waiting.get(ranks);
    return waiting.get(rank) + queued / ranks + (rank < queued % ranks ? 1 : 0);
  }

  int ranks() {
    return ranks;
  }

  /** Sequences of a rank, without those of the worker's queue. */
  int load(int rank) {
    return running.get(rank) + waiting.get(rank);
  }

  boolean isRetired(int rank) {
    return retired.get(rank) != 0;
  }

  long queriedTokens(int rank) {
    return queriedTokens.get(rank);
  }

  long matchedTokens(int rank) {
    return matchedTokens.get(rank);
  }

  long promptTokens(int rank) {
    return promptTokens.get(rank);
  }

  long outputTokens(int rank) {
    return outputTokens.get(rank);
  }

  long preemptions(int rank) {
    return preemptions.get(rank);
  }

  long finished(int rank) {
    return finished.get(rank);
  }

  /** {@return the number of iterations so far} */
  public long iterations() {
    return iterations.get();
  }
}
