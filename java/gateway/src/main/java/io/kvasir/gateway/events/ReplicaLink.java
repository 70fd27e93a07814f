package io.kvasir.gateway.events;

import io.kvasir.fleet.load.LoadExchange;
import io.kvasir.fleet.load.LoadFrame;
import io.kvasir.fleet.load.ReplicaFrame;
import io.kvasir.fleet.load.ReplicaOutbox;
import io.kvasir.fleet.load.ReplicatedLoads;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.model.RankId;
import io.kvasir.model.Threads;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The exchange of loads with other gateways in front of the same workers: publishes what the
 * routers of this gateway place, and passes on what the others publish. Each second a gateway
 * states what it has in flight, which repairs what lost messages leave behind. After three missed
 * statements its load no longer counts; the next one brings it back.
 *
 * <p>A message is a topic, a number and a payload: eight bytes that name the fleet, and a {@link
 * LoadFrame}, a {@link io.kvasir.fleet.load.LoadStatement} or a {@link
 * io.kvasir.fleet.load.LoadRequest}.
 *
 * <p>Thread-safe. Sends on its own thread, which nothing ends but {@link #close}; receives on that
 * of the {@link EventPump}.
 */
public final class ReplicaLink implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ReplicaLink.class);

  private static final byte[] TOPIC = "kvasir-loads".getBytes(StandardCharsets.US_ASCII);
  private static final long BEAT_NS = TimeUnit.SECONDS.toNanos(1);

  /** Three statements, and half an interval for their way. */
  private static final long SILENT_NS = 7 * BEAT_NS / 2;

  private static final long REOPEN_MS = 200;

  /** Time from the start in which gateways may not know their workers yet. */
  private static final long START_NS = TimeUnit.SECONDS.toNanos(30);

  /** Gateways state their loads more often. */
  private static final long GAP_NS = TimeUnit.SECONDS.toNanos(10);

  private final EventPump pump;
  private final long routerId = new SecureRandom().nextLong();
  private final Map<Long, Fleet> fleets = new ConcurrentHashMap<>();
  private final List<Peer> peers;
  private final ReplicaSenders senders; // confined to the pump's thread
  private final LongAdder ignored = new LongAdder();
  private final AtomicBoolean idle = new AtomicBoolean();
  private final long startedNs = System.nanoTime();
  private final WriteOnlyPublisher publisher; // used by the thread alone, once it runs
  private final Thread thread;
  private long number;
  private boolean failing; // confined to the thread
  // Confined to the pump's thread.
  private boolean warned;
  private long lastIgnoredNs = startedNs;

  /** When the messages began that have been ignored without a break. */
  private long ignoredSinceNs = startedNs;

  private volatile boolean closing;

  private record Fleet(long id, ReplicaOutbox outbox, LoadExchange exchange) {}

  /** An endpoint that is followed. */
  private final class Peer implements Consumer<byte[]> {
    final String endpoint;
    volatile long seenNs = startedNs;

    Peer(String endpoint) {
      this.endpoint = endpoint;
    }

    @Override
    public void accept(byte[] payload) {
      seenNs = System.nanoTime();
      receive(payload, endpoint);
    }
  }

  /**
   * Begins to publish and to listen.
   *
   * @param pump receives what others publish
   * @param endpoint where this gateway publishes, {@code tcp://HOST:PORT}, which it binds
   * @param peers where the others publish; listing its own endpoint is harmless
   * @throws IOException if the endpoint cannot be bound
   */
  public ReplicaLink(EventPump pump, String endpoint, List<String> peers) throws IOException {
    this.pump = pump;
    this.publisher = new WriteOnlyPublisher(endpoint);
    this.peers = peers.stream().distinct().map(Peer::new).toList();
    this.senders = new ReplicaSenders(ReplicatedLoads.MAX_ROUTERS, this.peers.size(), SILENT_NS);
    for (Peer peer : this.peers) {
      pump.follow(
          new FeedSpec(
              new RankId(0, 0),
              peer.endpoint,
              null,
              new String(TOPIC, StandardCharsets.US_ASCII),
              false),
          peer);
    }
    this.thread = new Thread(this::run, "kvasir-replicas");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Exchanges the loads of a fleet from now on, if its policy predicts them.
   *
   * @param fleetId the same number at all gateways for a fleet of the same workers
   * @param router the fleet's router, which places on workers that have the same numbers everywhere
   */
  public void join(long fleetId, FleetRouter router) {
    ReplicaOutbox outbox = new ReplicaOutbox(routerId);
    LoadExchange exchange =
        router.exchangeLoads(
            routerId,
            message -> {
              if (outbox.offer(message) && idle.getAndSet(false)) {
                publisher.wakeUp();
              }
            });
    if (exchange != null) {
      fleets.put(fleetId, new Fleet(fleetId, outbox, exchange));
    }
  }

  /** {@return the number of other gateways whose loads are counted} */
  public int replicas() {
    return fleets.values().stream()
        .mapToInt(fleet -> fleet.exchange().stats().routers())
        .max()
        .orElse(0);
  }

  /** {@return requests in flight that other gateways have placed} */
  public long requests() {
    return fleets.values().stream()
        .map(fleet -> fleet.exchange().stats())
        .mapToLong(ReplicatedLoads.Stats::attempts)
        .sum();
  }

  /** {@return messages about fleets that this gateway does not have, or that cannot be read} */
  public long ignored() {
    return ignored.sum();
  }

  /** {@return messages that were dropped, because too many waited to be sent} */
  public long dropped() {
    return fleets.values().stream().mapToLong(fleet -> fleet.outbox().dropped()).sum();
  }

  /** {@return the endpoints that are followed, without repetitions} */
  public List<String> peers() {
    return peers.stream().map(peer -> peer.endpoint).toList();
  }

  /**
   * The time since a message came from a peer, whether it could be used or not.
   *
   * @param endpoint one of {@link #peers}
   * @return seconds; before the first message, since the start
   */
  public double lastMessageAgeSeconds(String endpoint) {
    long seenNs =
        peers.stream()
            .filter(peer -> peer.endpoint.equals(endpoint))
            .mapToLong(peer -> peer.seenNs)
            .findAny()
            .orElse(startedNs);
    return Math.max(0, System.nanoTime() - seenNs) / 1e9;
  }

  private void run() {
    while (!closing) {
      try {
        sendUntilClosed();
      } catch (IOException | RuntimeException | Error e) { // the thread must go on
        reopen(e);
      }
    }
    publisher.close();
  }

  private void reopen(Throwable failure) {
    try {
      if (!failing) {
        failing = true;
        LOG.error("the socket of loads failed, and is opened again", failure);
      }
      Thread.sleep(REOPEN_MS);
      publisher.reopen();
    } catch (InterruptedException e) {
      LOG.debug("interrupted", e);
    } catch (IOException | RuntimeException | Error e) {
      LOG.debug("the socket of loads cannot be opened now", e);
    }
  }

  private void sendUntilClosed() throws IOException {
    long beatNs = System.nanoTime();
    while (!closing) {
      long nowNs = System.nanoTime();
      if (nowNs - beatNs >= 0) {
        boolean inTime = nowNs - beatNs < BEAT_NS;
        beatNs = nowNs + BEAT_NS;
        fleets.values().forEach(fleet -> beat(fleet, inTime));
      }
      idle.set(true);
      int sent = 0;
      for (Fleet fleet : fleets.values()) {
        sent += fleet.outbox().drainTo(frame -> publish(fleet, frame));
      }
      publisher.poll(sent > 0 ? 0 : beatNs - System.nanoTime());
      failing = false;
    }
  }

  /**
   * States what is in flight. After a pause of this process the messages of others wait to be read:
   * then others do not count as silent.
   */
  private void beat(Fleet fleet, boolean inTime) {
    try {
      publish(fleet, new LoadFrame(routerId, List.of()).encode()); // for older gateways
      fleet.exchange().state(frame -> publish(fleet, frame));
      int gone = inTime ? fleet.exchange().removeSilent(SILENT_NS) : 0;
      if (gone > 0) {
        LOG.warn("{} other gateways are silent; their load does not count now", gone);
      }
    } catch (RuntimeException e) { // the other fleets must go on
      LOG.error("what is in flight cannot be stated", e);
    }
  }

  private void publish(Fleet fleet, byte[] frame) {
    ByteBuffer payload = ByteBuffer.allocate(Long.BYTES + frame.length);
    payload.putLong(fleet.id()).put(frame);
    byte[] numberFrame = ByteBuffer.allocate(Long.BYTES).putLong(number++).array();
    publisher.send(TOPIC, numberFrame, payload.array());
  }

  private void receive(byte[] payload, String endpoint) {
    Fleet fleet =
        payload.length < Long.BYTES ? null : fleets.get(ByteBuffer.wrap(payload).getLong());
    if (fleet == null) {
      ignore("is about other workers or models than here; all gateways must name the same workers");
      return;
    }
    byte[] frame = Arrays.copyOfRange(payload, Long.BYTES, payload.length);
    try {
      long sender = ReplicaFrame.routerId(frame);
      if (sender != routerId && !senders.takes(sender, endpoint, System.nanoTime())) {
        ignore("is of a gateway that publishes at another endpoint, or of one too many");
        return;
      }
      fleet.exchange().onFrame(frame);
    } catch (IllegalArgumentException e) {
      ignore("cannot be read: " + e.getMessage());
    }
  }

  private void ignore(String why) {
    ignored.increment();
    long nowNs = System.nanoTime();
    if (nowNs - lastIgnoredNs > GAP_NS) {
      ignoredSinceNs = nowNs;
    }
    lastIgnoredNs = nowNs;
    if (!warned && nowNs - ignoredSinceNs > START_NS) {
      warned = true;
      LOG.warn("A message of another gateway {}; such messages are ignored", why);
    }
  }

  /** Closes the sockets and waits for the end of the thread. */
  @Override
  public void close() {
    peers.forEach(pump::unfollow);
    closing = true;
    publisher.wakeUp();
    Threads.join(thread);
  }
}
