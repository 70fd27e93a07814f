package io.kvasir.gateway.events;

import io.kvasir.fleet.load.LoadExchange;
import io.kvasir.fleet.load.LoadFrame;
import io.kvasir.fleet.load.ReplicaOutbox;
import io.kvasir.fleet.load.ReplicatedLoads;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.model.RankId;
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
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * The exchange of loads with other gateways in front of the same workers: publishes what the
 * routers of this gateway place, and passes on what the others publish. Lost messages are not
 * repeated: a request whose end is lost counts until it is stale. If a gateway is silent for ten
 * seconds, its load no longer counts.
 *
 * <p>A message is a topic, a number and a payload: eight bytes that name the fleet, and a {@link
 * LoadFrame}.
 *
 * <p>Thread-safe. Sends on its own thread; receives on that of the {@link EventPump}.
 */
public final class ReplicaLink implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ReplicaLink.class);

  private static final byte[] TOPIC = "kvasir-loads".getBytes(StandardCharsets.US_ASCII);
  private static final long BEAT_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long SILENT_NS = TimeUnit.SECONDS.toNanos(10);

  /** Time from the start in which gateways may not know their workers yet. */
  private static final long START_NS = TimeUnit.SECONDS.toNanos(30);

  private final EventPump pump;
  private final long routerId = new SecureRandom().nextLong();
  private final Map<Long, Fleet> fleets = new ConcurrentHashMap<>();
  private final Consumer<byte[]> sink = this::receive;
  private final LongAdder ignored = new LongAdder();
  private final AtomicBoolean idle = new AtomicBoolean();
  private final long startedNs = System.nanoTime();
  private final ZContext context;
  private final ZMQ.Socket publisher; // used by the thread alone, once it runs
  private final Thread thread;
  private long number;
  private boolean warned; // confined to the pump's thread
  private volatile boolean closing;

  private record Fleet(long id, ReplicaOutbox outbox, LoadExchange exchange) {}

  /**
   * Begins to publish and to listen.
   *
   * @param pump receives what others publish
   * @param endpoint where this gateway publishes, {@code tcp://HOST:PORT}, which it binds
   * @param peers where the others publish; its own endpoint does no harm
   * @throws IOException if the endpoint cannot be bound
   */
  public ReplicaLink(EventPump pump, String endpoint, List<String> peers) throws IOException {
    this.pump = pump;
    this.context = new ZContext();
    try {
      this.publisher = Sockets.bound(context, SocketType.PUB, endpoint);
    } catch (ZMQException e) {
      context.close();
      throw new IOException(
          endpoint + " cannot be bound: " + ZMQ.Error.findByCode(e.getErrorCode()), e);
    }
    for (String peer : peers) {
      pump.follow(
          new FeedSpec(
              new RankId(0, 0), peer, null, new String(TOPIC, StandardCharsets.US_ASCII), false),
          sink);
    }
    this.thread = new Thread(this::send, "kvasir-replicas");
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
                LockSupport.unpark(thread);
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

  private void send() {
    long beatNs = System.nanoTime();
    while (!closing) {
      long nowNs = System.nanoTime();
      if (nowNs - beatNs >= 0) {
        beatNs = nowNs + BEAT_NS;
        fleets.values().forEach(this::beat);
      }
      idle.set(true);
      int sent = 0;
      for (Fleet fleet : fleets.values()) {
        sent += fleet.outbox().drainTo(frame -> publish(fleet, frame));
      }
      if (sent == 0 && !closing) {
        LockSupport.parkNanos(beatNs - System.nanoTime());
      }
    }
    context.close();
  }

  private void beat(Fleet fleet) {
    publish(fleet, new LoadFrame(routerId, List.of()).encode());
    try {
      int gone = fleet.exchange().removeSilent(SILENT_NS);
      if (gone > 0) {
        LOG.warn("{} other gateways are silent; their load no longer counts", gone);
      }
    } catch (RuntimeException e) { // the thread must go on
      LOG.error("the load of silent gateways cannot be removed", e);
    }
  }

  private void publish(Fleet fleet, byte[] frame) {
    ByteBuffer payload = ByteBuffer.allocate(Long.BYTES + frame.length);
    payload.putLong(fleet.id()).put(frame);
    publisher.send(TOPIC, ZMQ.SNDMORE);
    publisher.send(ByteBuffer.allocate(Long.BYTES).putLong(number++).array(), ZMQ.SNDMORE);
    publisher.send(payload.array(), 0);
  }

  private void receive(byte[] payload) {
    Fleet fleet =
        payload.length < Long.BYTES ? null : fleets.get(ByteBuffer.wrap(payload).getLong());
    if (fleet == null) {
      ignore("is about other workers or models than here; all gateways must name the same workers");
      return;
    }
    try {
      fleet.exchange().onFrame(Arrays.copyOfRange(payload, Long.BYTES, payload.length));
    } catch (IllegalArgumentException e) {
      ignore("cannot be read: " + e.getMessage());
    }
  }

  private void ignore(String why) {
    ignored.increment();
    if (!warned && System.nanoTime() - startedNs > START_NS) {
      warned = true;
      LOG.warn("A message of another gateway {}; such messages are ignored", why);
    }
  }

  /** Closes the sockets and waits for the end of the thread. */
  @Override
  public void close() {
    pump.unfollow(sink);
    closing = true;
    LockSupport.unpark(thread);
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
