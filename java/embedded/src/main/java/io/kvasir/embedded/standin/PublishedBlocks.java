package io.kvasir.embedded.standin;

import io.kvasir.embedded.publish.BlockBatch;
import io.kvasir.embedded.publish.BlockChange;
import io.kvasir.embedded.publish.EventPublisher;
import io.kvasir.embedded.publish.Faults;
import io.kvasir.embedded.ranks.BlockSink;
import java.util.List;

/**
 * Numbers the changes of each iteration and passes them to a publisher, to the rank that the faults
 * say.
 *
 * <p>Confined to the ranks' thread.
 */
final class PublishedBlocks implements BlockSink {

  private static final double MS_PER_SECOND = 1000;

  private final EventPublisher publisher;
  private final Faults faults;

  /** The next number of each rank's sockets. */
  private final long[] next;

  PublishedBlocks(EventPublisher publisher, Faults faults) {
    this.publisher = publisher;
    this.faults = faults;
    this.next = new long[faults.ranks()];
  }

  private int socketsOf(int rank) {
    return (rank + faults.engine().wrongRank()) % next.length;
  }

  @Override
  public long take(int rank, List<BlockChange> changes) {
    int sockets = socketsOf(rank);
    long number = next[sockets]++;
    double now = System.currentTimeMillis() / MS_PER_SECOND;
    publisher.publish(sockets, new BlockBatch(number, now, changes));
    return number;
  }

  @Override
  public void restart(int rank) {
    int sockets = socketsOf(rank);
    next[sockets] = 0;
    publisher.restart(sockets);
  }
}
