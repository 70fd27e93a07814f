package io.kvasir.gateway.events;

import io.kvasir.gateway.zmtp.ZmtpLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The messages that are not replayed, of all endpoints that are followed. A message that its sink
 * refuses is lost, and delays no other.
 *
 * <p>Confined to the thread of the {@link EventPump}.
 */
final class StepFeeds {

  private static final Logger LOG = LoggerFactory.getLogger(StepFeeds.class);

  private final HostNames names;
  private final long turnNs;
  private final List<StepFeed> feeds = new ArrayList<>();

  /**
   * Begins without endpoints.
   *
   * @param turnNs how long messages of one endpoint are received before those of the next
   */
  StepFeeds(HostNames names, long turnNs) {
    this.names = names;
    this.turnNs = turnNs;
  }

  /** Receives an endpoint's messages from now on. */
  void follow(FeedSpec spec, Consumer<byte[]> sink, ZmtpLoop loop) {
    feeds.add(new StepFeed(spec, sink, loop, names));
  }

  /** Stops receiving messages for a sink. */
  void unfollow(Consumer<byte[]> sink) {
    feeds.removeIf(
        feed -> {
          if (feed.sink() == sink) {
            feed.close();
          }
          return feed.sink() == sink;
        });
  }

  /** Gives each endpoint with messages a turn; whether some have messages left. */
  boolean receive() {
    boolean more = false;
    for (StepFeed feed : feeds) {
      more |= feed.isReadable() && turn(feed);
    }
    return more;
  }

  /** Takes messages until there are none, or the slice of time is over. */
  private boolean turn(StepFeed feed) {
    long startNs = System.nanoTime();
    try {
      while (System.nanoTime() - startNs < turnNs) {
        if (!feed.receive()) {
          return false;
        }
      }
    } catch (RuntimeException e) {
      LOG.error("a message of {} cannot be used", feed.spec().live(), e);
    }
    return true;
  }

  /** Connects to the endpoints whose address has become known, or has changed. */
  void tick(long nowNs) {
    for (StepFeed feed : feeds) {
      try {
        feed.tick(nowNs);
      } catch (RuntimeException e) {
        LOG.debug("{} cannot be reached now", feed.spec().live(), e);
      }
    }
  }

  /** Replaces all sockets, which are closed, by those of another loop. */
  void reopen(ZmtpLoop loop) {
    feeds.replaceAll(feed -> new StepFeed(feed.spec(), feed.sink(), loop, names));
  }

  /** Closes all sockets. */
  void close() {
    feeds.forEach(StepFeed::close);
  }
}
