package io.kvasir.gateway.events;

import io.kvasir.gateway.zmtp.ZmtpLoop;
import io.kvasir.model.Threads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that receives the block events of all ranks, and the steps that engines report. Ranks
 * with waiting messages take turns; a turn ends after a slice of time, so that a rank with many
 * messages delays the others little.
 *
 * <p>Nothing ends the thread but {@link #close}: a rank whose socket or sink fails starts over.
 *
 * <p>Thread-safe. Sinks are called on the pump's thread only.
 */
public final class EventPump implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(EventPump.class);

  private static final long TURN_NS = TimeUnit.MICROSECONDS.toNanos(100);
  private static final int WAIT_MS = 20;
  private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long REOPEN_MS = 200;
  private static final long RETRY_NS = TimeUnit.SECONDS.toNanos(1);

  /** How long a rank's events count as going on after the last sign of its publisher. */
  private static final long PROOF_NS = TimeUnit.SECONDS.toNanos(10);

  private final Queue<Runnable> commands = new ConcurrentLinkedQueue<>();
  private final Map<BatchSink, FeedStatus> statuses = new ConcurrentHashMap<>();
  private final HostNames names = new HostNames();
  private final long turnNs;
  private final long proofNs;
  private final Supplier<ZmtpLoop> loops;
  private final AtomicBoolean woken = new AtomicBoolean();
  private final Thread thread;
  private volatile boolean closing;

  /** Replaced by the thread, which alone uses more of it than the wake-up. */
  private volatile ZmtpLoop loop;

  // Confined to the thread.
  private final List<Entry> entries = new ArrayList<>();

  private final StepFeeds steps;

  /** Sinks whose sockets are to be opened. */
  private final Map<BatchSink, FeedSpec> unopened = new LinkedHashMap<>();

  /** Sinks among them that have not forgotten yet what came through the sockets before. */
  private final Set<BatchSink> stale = new HashSet<>();

  private int first;

  /** A feed and its sink. */
  private record Entry(RankFeed feed, BatchSink sink) {}

  /**
   * Starts the thread.
   *
   * @throws UncheckedIOException if the process has too many open files
   */
  public EventPump() {
    this(TURN_NS, PROOF_NS);
  }

  /** Starts the thread with a slice of time of another length. */
  EventPump(long turnNs) {
    this(turnNs, PROOF_NS);
  }

  /** The same with another limit for signs of publishers. */
  EventPump(long turnNs, long proofNs) {
    this(turnNs, proofNs, ZmtpLoop::new);
  }

  /** The same with another way to open a selector. */
  EventPump(long turnNs, long proofNs, Supplier<ZmtpLoop> loops) {
    this.turnNs = turnNs;
    this.proofNs = proofNs;
    this.loops = loops;
    this.steps = new StepFeeds(names, turnNs);
    loop = loops.get();
    thread = new Thread(this::run, "kvasir-events");
    thread.setDaemon(true);
    thread.start();
  }

  /** Receives the events of a rank from now on. */
  void add(FeedSpec spec, BatchSink sink) {
    execute(() -> open(spec, sink));
  }

  /** Stops to receive the events of a sink. */
  void remove(BatchSink sink) {
    execute(() -> closeFeed(sink));
  }

  /** Receives an endpoint's messages, which are not replayed, from now on. */
  void follow(FeedSpec spec, Consumer<byte[]> sink) {
    execute(() -> steps.follow(spec, sink, loop));
  }

  /** Stops receiving messages for a sink. */
  void unfollow(Consumer<byte[]> sink) {
    execute(() -> steps.unfollow(sink));
  }

  /** Forgets what a sink's rank has published: its engine has started over. */
  void startOver(BatchSink sink) {
    execute(
        () -> {
          for (Entry entry : entries) {
            if (entry.sink == sink) {
              entry.feed.startOver();
            }
          }
        });
  }

  /** Runs an action on the pump's thread, soon. */
  void execute(Runnable action) {
    commands.add(action);
    wake();
  }

  /** The time by which ranks are judged, {@link ZmtpLoop#nowNs}; on the pump's thread. */
  long nowNs() {
    return loop.nowNs();
  }

  private void wake() {
    if (!woken.getAndSet(true)) {
      loop.wakeUp();
    }
  }

  /**
   * {@return the event stream of a sink; null if the pump does not receive it}
   *
   * @param sink the sink
   */
  @Nullable FeedStatus status(BatchSink sink) {
    return statuses.get(sink);
  }

  private void open(FeedSpec spec, BatchSink sink) {
    boolean again = unopened.containsKey(sink);
    closeFeed(sink);
    try {
      RankFeed feed = new RankFeed(spec, sink, loop, names, loop.nowNs(), proofNs);
      entries.add(new Entry(feed, sink));
    } catch (IOException e) {
      if (!again) {
        LOG.warn(
            "{} cannot be opened for the events of {}, and is tried again: {}",
            spec.live(),
            spec.rank(),
            e.getMessage());
      }
      unopened.put(sink, spec);
    }
  }

  private void openAgain() {
    new LinkedHashMap<>(unopened)
        .forEach(
            (sink, spec) -> {
              if (forget(sink, spec)) {
                open(spec, sink);
              }
            });
  }

  /** Has a sink forget what its rank has published, if it must; whether it has. */
  private boolean forget(BatchSink sink, FeedSpec spec) {
    if (!stale.contains(sink)) {
      return true;
    }
    try {
      sink.onRestart();
      stale.remove(sink);
      return true;
    } catch (RuntimeException | Error e) { // the other ranks must go on
      LOG.error("the events of {} cannot be forgotten, which is tried again", spec.rank(), e);
      return false;
    }
  }

  private void closeFeed(BatchSink sink) {
    unopened.remove(sink);
    stale.remove(sink);
    entries.removeIf(
        entry -> {
          if (entry.sink == sink) {
            entry.feed.close();
            statuses.remove(sink);
          }
          return entry.sink == sink;
        });
  }

  private void run() {
    while (!closing) {
      try {
        receiveUntilClosed();
      } catch (IOException | RuntimeException | Error e) {
        recover(e);
      }
    }
    entries.forEach(entry -> entry.feed.close());
    steps.close();
    loop.close();
    names.close();
  }

  /** Opens all sockets again. Without memory, not even a line of the log can be written. */
  private void recover(Throwable cause) {
    try {
      LOG.error("the sockets of block events failed; all ranks start over", cause);
    } catch (RuntimeException | Error e) {
      // there is nowhere to say it
    }
    try {
      reopen();
    } catch (RuntimeException | Error e) {
      // the next turn fails, and opens them again
    }
  }

  private void receiveUntilClosed() throws IOException {
    long tickNs = loop.nowNs();
    long retryNs = tickNs + RETRY_NS;
    boolean more = false;
    while (!closing) {
      loop.select(more ? 0 : WAIT_MS);
      woken.set(false); // before the commands, so that a later one wakes the thread again
      runCommands();
      more = receive();
      long nowNs = loop.nowNs();
      if (nowNs - tickNs >= 0) {
        tickNs = nowNs + TICK_NS;
        boolean retry = nowNs - retryNs >= 0;
        retryNs = retry ? nowNs + RETRY_NS : retryNs;
        tick(nowNs, retry);
        if (retry) {
          openAgain();
        }
      }
    }
  }

  /** Replaces all sockets. Failed ones are tried again. */
  private void reopen() {
    try {
      for (Entry entry : entries) {
        unopened.put(entry.sink, entry.feed.spec());
        stale.add(entry.sink);
      }
      entries.forEach(entry -> entry.feed.close());
      entries.clear();
      unopened.forEach(this::forget); // it must not be matched while sockets cannot be opened
      steps.close();
      loop.close();
      Thread.sleep(REOPEN_MS);
      loop = loops.get();
      steps.reopen(loop);
      openAgain();
    } catch (InterruptedException e) {
      LOG.debug("interrupted", e);
    } catch (RuntimeException | Error e) {
      LOG.error("the sockets of block events cannot be opened again", e);
    }
  }

  private void runCommands() {
    for (Runnable next = commands.poll(); next != null; next = commands.poll()) {
      try {
        next.run();
      } catch (RuntimeException e) {
        LOG.error("a change of block events failed", e);
      }
    }
  }

  /** Gives each rank with messages a turn; whether some have messages left. */
  private boolean receive() {
    int count = entries.size();
    first = count == 0 ? 0 : (first + 1) % count;
    boolean more = false;
    for (int i = 0; i < count; i++) {
      Entry entry = entries.get((first + i) % count);
      if (entry.feed.isLiveReadable()) {
        more |= turn(entry, true);
      }
      if (entry.feed.isReplayReadable()) {
        more |= turn(entry, false);
      }
    }
    more |= steps.receive();
    return more;
  }

  /** Takes messages of one socket until there are none, or the slice of time is over. */
  private boolean turn(Entry entry, boolean live) {
    long startNs = loop.nowNs();
    long nowNs = startNs;
    try {
      while (nowNs - startNs < turnNs) {
        if (!(live ? entry.feed.receiveLive(nowNs) : entry.feed.receiveReplay(nowNs))) {
          return false;
        }
        nowNs = loop.nowNs();
      }
    } catch (RuntimeException e) {
      LOG.error("the events of {} cannot be applied; it starts over", entry.feed.spec().rank(), e);
      startOver(entry, nowNs);
    }
    return true;
  }

  /** Starts a rank over whose sink has failed, and may fail again: no other rank notices. */
  private static void startOver(Entry entry, long nowNs) {
    try {
      entry.feed.startOver();
    } catch (RuntimeException e) {
      LOG.error("the events of {} cannot be forgotten", entry.feed.spec().rank(), e);
      entry.feed.pause(nowNs);
    }
  }

  private void tick(long nowNs, boolean retry) {
    for (Entry entry : entries) {
      try {
        if (retry) {
          entry.sink.retry();
        }
        entry.feed.tick(nowNs);
      } catch (RuntimeException e) {
        LOG.error("the events of {} cannot be followed now", entry.feed.spec().rank(), e);
        entry.feed.pause(nowNs);
      }
      statuses.put(entry.sink, entry.feed.status());
    }
    steps.tick(nowNs);
  }

  /** Closes the sockets and waits for the end of the thread. Repeated calls have no effect. */
  @Override
  public void close() {
    closing = true;
    wake();
    Threads.join(thread);
  }
}
