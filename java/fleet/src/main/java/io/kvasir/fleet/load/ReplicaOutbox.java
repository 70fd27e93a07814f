package io.kvasir.fleet.load;

import io.kvasir.model.Checks;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Messages of a router on their way to its replicas. Best effort: when too many wait, the newest
 * one is dropped and counted, and the replicas' prediction is wrong until the next statement.
 *
 * <p>Thread-safe. Nothing blocks, except what a port does.
 */
public final class ReplicaOutbox {

  /** Messages that may wait. */
  public static final int CAPACITY = 100_000;

  /** Most blocks of the messages of a frame: 4 MiB of hashes. */
  public static final int MAX_FRAME_BLOCKS = 1 << 19;

  private final long routerId;
  private final LinkedBlockingQueue<LoadMessage> waiting;
  private final LongAdder dropped = new LongAdder();

  /**
   * Makes an empty box for {@link #CAPACITY} messages.
   *
   * @param routerId the sender, a number drawn at random at each start
   */
  public ReplicaOutbox(long routerId) {
    this(routerId, CAPACITY);
  }

  /**
   * Makes an empty box.
   *
   * @param routerId the sender, a number drawn at random at each start
   * @param capacity messages that may wait, at least 1
   * @throws IllegalArgumentException if {@code capacity} is below 1
   */
  public ReplicaOutbox(long routerId, int capacity) {
    Checks.atLeast("capacity", capacity, 1);
    this.routerId = routerId;
    this.waiting = new LinkedBlockingQueue<>(capacity);
  }

  /**
   * Puts a message in. O(1).
   *
   * @param message the message
   * @return false if it was dropped
   */
  public boolean offer(LoadMessage message) {
    boolean taken = waiting.offer(message);
    if (!taken) {
      dropped.increment();
    }
    return taken;
  }

  /**
   * Sends what waits now, in frames of at most {@link LoadFrame#MAX_MESSAGES} and, unless one
   * message has more, {@link #MAX_FRAME_BLOCKS} blocks.
   *
   * @param port where to
   * @return how many messages were sent
   */
  public int drainTo(ReplicaPort port) {
    int left = waiting.size();
    int sent = 0;
    List<LoadMessage> batch = new ArrayList<>();
    long blocks = 0;
    for (LoadMessage next = poll(left); next != null; next = poll(left - sent)) {
      long more = blocks(next);
      boolean full =
          batch.size() == LoadFrame.MAX_MESSAGES
              || (!batch.isEmpty() && blocks + more > MAX_FRAME_BLOCKS);
      if (full) {
        port.send(new LoadFrame(routerId, batch).encode());
        batch.clear();
        blocks = 0;
      }
      batch.add(next);
      blocks += more;
      sent++;
    }
    if (!batch.isEmpty()) {
      port.send(new LoadFrame(routerId, batch).encode());
    }
    return sent;
  }

  private @Nullable LoadMessage poll(int left) {
    return left > 0 ? waiting.poll() : null;
  }

  private static int blocks(LoadMessage message) {
    return message.change() instanceof LoadMessage.Added added ? added.load().blocks() : 0;
  }

  /** {@return the number of messages dropped so far, at least 0} */
  public long dropped() {
    return dropped.sum();
  }
}
