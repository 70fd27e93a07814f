package io.kvasir.gateway.events;

import java.nio.ByteBuffer;

/**
 * The numbers of one rank's batches: the last one, restarts of the engine, and doubt whether the
 * batches after a gap come from the same process.
 *
 * <p>A live number that is not above the last live one shows that the engine has started over. A
 * gap in the live numbers, or a lost connection, leaves open whether the batches after it come from
 * the same process, even if their numbers continue: the batch before it stays <i>unconfirmed</i>
 * until a replay repeats it. If it repeats other bytes under that number, or under the last one,
 * the engine has started over.
 *
 * <p>Confined to the thread of the {@link EventPump}.
 */
final class LiveStream {

  /** Stands for no number. */
  static final long NONE = -1;

  private final BatchSink sink;
  private final boolean replayed;

  private long last = NONE;
  private long lastDigest;
  private long lastLive = NONE;

  /** The batch before a gap or a lost connection, until a replay has confirmed it; or none. */
  private long unconfirmed = NONE;

  private long unconfirmedDigest;

  /** The highest number that a replay delivered. Live batches up to it have been taken already. */
  private long covered = NONE;

  private long batches;
  private long replayedBatches;
  private long restarts;
  private long unreadable;

  /**
   * Begins before the first batch.
   *
   * @param sink receives the batches
   * @param replayed whether the engine can be asked for batches again
   */
  LiveStream(BatchSink sink, boolean replayed) {
    this.sink = sink;
    this.replayed = replayed;
  }

  /** The highest number received; {@link #NONE} before the first. */
  long last() {
    return last;
  }

  /** Whether the last batch came live. */
  boolean lastIsLive() {
    return lastLive == last;
  }

  /** The batch that a replay has to confirm; {@link #NONE} if there is no doubt. */
  long unconfirmed() {
    return unconfirmed;
  }

  long batches() {
    return batches;
  }

  long replayedBatches() {
    return replayedBatches;
  }

  long restarts() {
    return restarts;
  }

  /** Live batches that could not be read. */
  long unreadable() {
    return unreadable;
  }

  /** Whether a live number shows that the engine has started over. */
  boolean startsOver(long number) {
    return number <= lastLive;
  }

  /**
   * Has the last batch confirmed by a replay if a live number may come from another process.
   *
   * @param reconnected whether the connection was lost since the last live batch
   * @return whether there is a new doubt
   */
  boolean doubts(long number, boolean reconnected) {
    boolean open = last >= 0 && (reconnected || number > last + 1);
    if (!open || !replayed || unconfirmed != NONE) {
      return false;
    }
    unconfirmed = last;
    unconfirmedDigest = lastDigest;
    return true;
  }

  /**
   * Takes a live batch.
   *
   * @param reconnected whether the connection was lost since the last live batch
   * @return whether it shows that nothing is missing before it
   */
  boolean onLive(long number, byte[] payload, boolean reconnected) {
    boolean next = number == Math.max(last, lastLive) + 1 && !reconnected;
    lastLive = number;
    if (number <= covered) {
      return false;
    }
    if (sink.onBatch(number, payload, !replayed)) {
      taken(number, payload);
    } else {
      unreadable++; // the replay has another copy
    }
    return next;
  }

  /** Whether a replayed batch has other bytes than the one that was received with its number. */
  boolean differs(long number, byte[] payload) {
    return (number == last && digest(payload) != lastDigest)
        || (number == unconfirmed && digest(payload) != unconfirmedDigest);
  }

  /** Ends the doubt if it is about a batch, which has been taken; whether it was. */
  boolean confirms(long number) {
    boolean confirmed = number == unconfirmed;
    if (confirmed) {
      unconfirmed = NONE;
    }
    return confirmed;
  }

  /** Ends the doubt, because the engine no longer has the batch that would settle it. */
  void endDoubt() {
    unconfirmed = NONE;
  }

  /** A replay has delivered a number: its live copy, if it still comes, is not taken. */
  void cover(long number) {
    covered = Math.max(covered, number);
  }

  /** Takes a batch that a replay has delivered. */
  void onReplayed(long number, byte[] payload) {
    replayedBatches++;
    sink.onBatch(number, payload, true);
    taken(number, payload);
  }

  private void taken(long number, byte[] payload) {
    batches++;
    if (number > last) {
      last = number;
      lastDigest = digest(payload);
    }
  }

  /** Forgets all numbers: the engine has restarted, or a batch could not be applied. */
  void startOver() {
    restarts++;
    last = NONE;
    lastLive = NONE;
    unconfirmed = NONE;
    covered = NONE;
  }

  private static long digest(byte[] payload) {
    long hash = payload.length;
    int at = 0;
    ByteBuffer words = ByteBuffer.wrap(payload);
    for (; at + Long.BYTES <= payload.length; at += Long.BYTES) {
      hash = (hash ^ words.getLong(at)) * 0x9E3779B97F4A7C15L;
      hash ^= hash >>> 29;
    }
    for (; at < payload.length; at++) {
      hash = (hash ^ payload[at]) * 0x9E3779B97F4A7C15L;
    }
    return hash ^ hash >>> 32;
  }
}
