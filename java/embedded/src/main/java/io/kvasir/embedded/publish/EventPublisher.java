package io.kvasir.embedded.publish;

import io.kvasir.model.Threads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Publishes the batches of an engine's ranks, each at ports of its own, and replays them.
 *
 * <p>Thread-safe. One thread has all sockets, so a long replay delays what is sent live, as in the
 * engines. No method waits for it, except {@link #close}.
 */
public final class EventPublisher implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(EventPublisher.class);

  private final Faults faults;
  private final ZContext context = new ZContext();
  private final List<RankSockets> ranks = new ArrayList<>();
  private final Queue<Runnable> inbox = new ConcurrentLinkedQueue<>();
  private final Pipe pipe;
  private final AtomicBoolean woken = new AtomicBoolean();
  private final Thread thread = new Thread(this::run, "kvasir-events");
  private final int eventsPort;
  private final int replayPort;
  private volatile boolean closing;

  private EventPublisher(EventSettings settings, int blockTokens, Faults faults, long seed)
      throws IOException {
    this.faults = faults;
    for (int rank = 0; rank < faults.ranks(); rank++) {
      ranks.add(new RankSockets(context, settings, blockTokens, rank, seed));
    }
    List<ZMQ.Socket> live = ranks.stream().map(RankSockets::live).toList();
    List<ZMQ.Socket> replay =
        ranks.stream().map(RankSockets::replay).filter(Objects::nonNull).toList();
    try {
      this.eventsPort = PortRange.bind(live, settings.host(), settings.eventsPort());
      this.replayPort =
          replay.isEmpty() ? 0 : PortRange.bind(replay, settings.host(), settings.replayPort());
      this.pipe = Pipe.open();
      pipe.source().configureBlocking(false);
      pipe.sink().configureBlocking(false);
    } catch (IOException | RuntimeException e) {
      context.close();
      throw e;
    }
    thread.setDaemon(true);
  }

  /**
   * Opens the ports and starts the thread.
   *
   * @param settings how to publish
   * @param blockTokens tokens of a block
   * @param faults what goes wrong; also the number of ranks
   * @param seed decides which batches have a fault
   * @return the publisher; the caller closes it
   * @throws IOException if a port cannot be opened; nothing stays open
   */
  public static EventPublisher open(
      EventSettings settings, int blockTokens, Faults faults, long seed) throws IOException {
    EventPublisher publisher = new EventPublisher(settings, blockTokens, faults, seed);
    publisher.thread.start();
    return publisher;
  }

  /** {@return the port of rank 0's events} */
  public int eventsPort() {
    return eventsPort;
  }

  /** {@return the port of rank 0's replay; 0 if there is none} */
  public int replayPort() {
    return replayPort;
  }

  /**
   * Publishes a batch.
   *
   * @param rank the rank whose sockets send it
   * @param batch the batch; its number is the one after the rank's last
   */
  public void publish(int rank, BlockBatch batch) {
    post(() -> ranks.get(rank).add(batch, faults.rank(rank), System.nanoTime()));
  }

  /**
   * Forgets all batches of a rank, which restarts from 0.
   *
   * @param rank its index
   */
  public void restart(int rank) {
    post(ranks.get(rank)::restart);
  }

  /** Lets changed faults take effect at once. */
  public void onFaultsChanged() {
    wake();
  }

  private void post(Runnable task) {
    inbox.add(task);
    wake();
  }

  private void wake() {
    if (!woken.getAndSet(true)) {
      try {
        pipe.sink().write(ByteBuffer.allocate(1));
      } catch (IOException e) {
        LOG.debug("The publisher has ended", e);
      }
    }
  }

  private void run() {
    try (context) {
      ZMQ.Poller poller = context.createPoller(ranks.size() + 1);
      poller.register(pipe.source(), ZMQ.Poller.POLLIN);
      for (RankSockets rank : ranks) {
        if (rank.replay() != null) {
          poller.register(rank.replay(), ZMQ.Poller.POLLIN);
        }
      }
      ByteBuffer drained = ByteBuffer.allocate(16);
      while (!closing) {
        long idleNs = work();
        poller.poll(idleNs < 0 ? -1 : TimeUnit.NANOSECONDS.toMillis(idleNs + 999_999));
        pipe.source().read(drained.clear());
        woken.set(false);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      closePipe();
    }
  }

  /** Does what is due; returns how long nothing is due, negative for ever. */
  private long work() {
    for (Runnable task = inbox.poll(); task != null; task = inbox.poll()) {
      task.run();
    }
    long nowNs = System.nanoTime();
    long idleNs = -1;
    for (int rank = 0; rank < ranks.size(); rank++) {
      RankSockets sockets = ranks.get(rank);
      RankFaults now = faults.rank(rank);
      sockets.work(now, nowNs);
      long ownNs = sockets.idleNs(now, nowNs);
      if (ownNs >= 0 && (idleNs < 0 || ownNs < idleNs)) {
        idleNs = ownNs;
      }
    }
    return idleNs;
  }

  private void closePipe() {
    try {
      pipe.sink().close();
      pipe.source().close();
    } catch (IOException e) {
      LOG.debug("A pipe cannot be closed", e);
    }
  }

  /** Closes the sockets and waits for the end of the thread. Repeated calls have no effect. */
  @Override
  public void close() {
    closing = true;
    wake();
    Threads.join(thread);
  }
}
