package io.kvasir.simulator.replay;

import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * News on its way to somebody: each piece is told at its time, never before; of pieces of one
 * moment, the first that was sent comes first.
 *
 * <p>Not thread-safe. Sending and telling cost O(log pieces).
 */
final class DelayedEvents {

  private final PriorityQueue<Piece> onTheWay =
      new PriorityQueue<>(Comparator.comparingLong(Piece::dueNs).thenComparingLong(Piece::order));
  private long sent;

  private record Piece(long dueNs, long order, Runnable tell) {}

  /** Sends a piece that arrives at a moment. */
  void send(long dueNs, Runnable tell) {
    onTheWay.add(new Piece(dueNs, sent++, tell));
  }

  /** Tells what has arrived by a moment. */
  void tellUntil(long nowNs) {
    while (!onTheWay.isEmpty() && onTheWay.peek().dueNs() <= nowNs) {
      onTheWay.remove().tell().run();
    }
  }
}
