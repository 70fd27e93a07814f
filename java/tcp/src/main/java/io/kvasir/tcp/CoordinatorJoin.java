package io.kvasir.tcp;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.MemberHello;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The coordinator's wait for the other members of its group.
 *
 * <p>All connections are served at the same time. A connection that does not prove in time to have
 * the group's secret is closed and changes nothing. A bounded number of connections may be
 * unproven; when it is exceeded, the oldest of them is closed, and a member whose connection that
 * was connects again.
 *
 * <p>Confined to one thread.
 */
final class CoordinatorJoin {

  static final int MAX_PENDING = 64;

  /** How long a connection may take to prove to have the secret. */
  static final Duration PROOF = Duration.ofSeconds(5);

  private static final Logger LOG = LoggerFactory.getLogger(CoordinatorJoin.class);
  private static final long NOTICE_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long WATCH_MS = 100;

  private final ServerSocketChannel server;
  private final GroupSettings group;
  private final GroupSecret secret;
  private final Duration proof;
  private final Set<PendingConnection> pending = new LinkedHashSet<>(); // by age
  private final FrameChannel[] channels;
  private int dropped;

  CoordinatorJoin(
      ServerSocketChannel server, GroupSettings group, GroupSecret secret, Duration proof) {
    this.server = server;
    this.group = group;
    this.secret = secret;
    this.proof = proof;
    this.channels = new FrameChannel[group.members().size()];
  }

  /**
   * Waits until all other members have joined and starts them.
   *
   * @return their connections by member; null for the coordinator
   */
  FrameChannel[] await(Duration timeout, MemberWatch watch) {
    try (Selector selector = Selector.open()) {
      server.configureBlocking(false);
      SelectionKey accepting = server.register(selector, SelectionKey.OP_ACCEPT);
      awaitAll(accepting, timeout, watch);
      conclude("");
      encrypt();
      return channels;
    } catch (IOException e) {
      throw abort(new LockstepException("members cannot join: " + FrameChannel.problem(e), e));
    } catch (RuntimeException e) {
      throw abort(e);
    } finally {
      pending.forEach(PendingConnection::close);
      if (dropped > 0) {
        LOG.warn("Dropped {} connections that did not prove to be members", dropped);
      }
    }
  }

  private RuntimeException abort(RuntimeException problem) {
    conclude(String.valueOf(problem.getMessage()));
    for (FrameChannel channel : channels) {
      if (channel != null) {
        channel.close();
      }
    }
    return problem;
  }

  /**
   * Sends the result to the members that have joined: nothing if the run starts, or the problem.
   */
  private void conclude(String problem) {
    ByteBuffer frame = ByteBuffer.wrap(problem.getBytes(UTF_8));
    frame.limit(Math.min(frame.limit(), TcpHandshake.MAX_ANSWER_BYTES));
    for (FrameChannel channel : channels) {
      if (channel != null) {
        try {
          channel.send(frame, System.nanoTime() + NOTICE_NS);
        } catch (IOException e) {
          LOG.debug("A member cannot be reached", e); // the first gather reports the loss
        }
      }
    }
  }

  /** Encrypts the connections, if the group does that, and starts the members once more. */
  private void encrypt() {
    GroupCertificates certificates = secret.certificates();
    if (certificates == null) {
      return;
    }
    long deadlineNs = System.nanoTime() + group.timeout().toNanos();
    for (int member = 1; member < channels.length; member++) {
      try {
        channels[member].encrypt(certificates.engine(true), deadlineNs);
      } catch (IOException e) {
        throw new LockstepException(
            group.members().get(member) + " cannot encrypt: " + FrameChannel.problem(e), e);
      }
    }
    conclude("");
  }

  private void awaitAll(SelectionKey accepting, Duration timeout, MemberWatch watch)
      throws IOException {
    Selector selector = accepting.selector();
    long deadlineNs = System.nanoTime() + timeout.toNanos();
    List<Member> missing = missing();
    while (!missing.isEmpty()) {
      requireRunning(watch);
      if (Thread.currentThread().isInterrupted()) {
        throw new LockstepException("interrupted while " + missing + " had not joined");
      }
      if (System.nanoTime() - deadlineNs >= 0) {
        throw new LockstepException(missing + " did not join within " + timeout.toMillis() + " ms");
      }
      selector.select(WATCH_MS);
      for (SelectionKey key : selector.selectedKeys()) {
        if (key != accepting) {
          read((PendingConnection) key.attachment());
        }
      }
      selector.selectedKeys().clear();
      dropLate();
      accept(selector);
      missing = missing();
    }
  }

  private List<Member> missing() {
    return group.members().stream()
        .filter(member -> member.index() > 0 && channels[member.index()] == null)
        .toList();
  }

  private void requireRunning(MemberWatch watch) {
    for (Member member : group.members().subList(1, channels.length)) {
      String end = watch.end(member.index());
      if (end != null) {
        throw new LockstepException(member + " ended before all members had joined: " + end);
      }
    }
  }

  /** Accepts one connection, if there is one; those accepted before are read in between. */
  private void accept(Selector selector) throws IOException {
    try {
      SocketChannel socket = server.accept();
      if (socket != null) {
        long deadlineNs = System.nanoTime() + proof.toNanos();
        pending.add(new PendingConnection(socket, secret, selector, deadlineNs));
      }
      if (pending.size() > MAX_PENDING) {
        dropOldest("too many connections are waiting");
      }
    } catch (IOException e) {
      if (!server.isOpen()) {
        throw e;
      }
      dropOldest(FrameChannel.problem(e)); // there may be too many open files
    }
  }

  private void dropOldest(String why) {
    if (!pending.isEmpty()) {
      drop(pending.iterator().next(), why);
    }
  }

  private void dropLate() {
    long nowNs = System.nanoTime();
    while (!pending.isEmpty() && pending.iterator().next().isLate(nowNs)) {
      dropOldest("it was silent for too long");
    }
  }

  private void drop(PendingConnection connection, String why) {
    dropped++;
    LOG.debug("Dropped a connection from {}: {}", connection.peer(), why);
    pending.remove(connection);
    connection.close();
  }

  private void read(PendingConnection connection) {
    if (connection.member() != null) {
      throw new LockstepException(
          connection.member() + " left before all members had joined, or sent data too early");
    }
    try {
      ByteBuffer body = connection.readHello();
      if (body != null) {
        greet(connection, MemberHello.decode(body));
      }
    } catch (IOException e) {
      drop(connection, FrameChannel.problem(e));
    }
  }

  /** Admits or refuses a member that has proven to have the secret. */
  private void greet(PendingConnection connection, @Nullable MemberHello hello) throws IOException {
    if (hello == null) {
      throw rejected(connection, "a member", "its hello is malformed");
    }
    String refusal = hello.refusal(group);
    if (hello.isOfAnotherWorker(group)) {
      refuse(connection, "this is worker " + group.worker() + ", not " + hello.worker());
    } else if (refusal != null) {
      throw rejected(connection, "member " + hello.member(), refusal);
    } else if (hello.member() == 0) {
      throw rejected(connection, "member 0", "it claims to be the coordinator");
    } else if (channels[hello.member()] != null) {
      refuse(connection, "member " + hello.member() + " has already joined");
    } else {
      connection.answer("");
      channels[hello.member()] = new FrameChannel(connection.socket()).spinning(group.spin());
      connection.joinedAs(group.members().get(hello.member()));
      pending.remove(connection);
    }
  }

  private static LockstepException rejected(
      PendingConnection connection, String who, String refusal) throws IOException {
    connection.answer(refusal);
    return new LockstepException(who + " at " + connection.peer() + " is rejected: " + refusal);
  }

  private void refuse(PendingConnection connection, String refusal) throws IOException {
    connection.answer(refusal);
    drop(connection, refusal);
  }
}
