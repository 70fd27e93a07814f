package io.kvasir.engine.lockstep;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The member of a TCP group that the others connect to. It receives their frames in member order
 * and sends all of them to every member.
 *
 * <p>A gather costs two frames for each other member. It waits at most the group's timeout for the
 * frames, and at most as long again for the answers to be sent.
 *
 * <p>Confined to one thread, except for {@link #close}.
 */
public final class TcpCoordinator implements RankCollective {

  private static final Logger LOG = LoggerFactory.getLogger(TcpCoordinator.class);
  private static final byte[] ACCEPTED = {};

  private final TcpGroup group;
  private final FrameChannel[] channels;
  private final GatheredFrames gathered;
  private ByteBuffer answer = ByteBuffer.allocate(1 << 12);
  private volatile boolean closed;

  private TcpCoordinator(TcpGroup group) {
    this.group = group;
    this.channels = new FrameChannel[group.members().size()];
    this.gathered = new GatheredFrames(channels.length);
  }

  /**
   * Waits until all other members have connected. Connections of other clients are rejected.
   *
   * @param server the socket that members connect to; not closed here
   * @param group the settings that all members must share
   * @param patienceMs how long to wait for all members, in milliseconds
   * @return the collective
   * @throws LockstepException if a member is incompatible, or has not connected in time
   * @throws UncheckedIOException if the server fails
   */
  public static TcpCoordinator accept(ServerSocketChannel server, TcpGroup group, long patienceMs) {
    TcpCoordinator coordinator = new TcpCoordinator(group);
    try {
      coordinator.acceptAll(server, patienceMs);
      return coordinator;
    } catch (IOException e) {
      coordinator.close();
      throw new UncheckedIOException("members cannot connect", e);
    } catch (RuntimeException e) {
      coordinator.close();
      throw e;
    }
  }

  private void acceptAll(ServerSocketChannel server, long patienceMs) throws IOException {
    long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMs);
    server.configureBlocking(false);
    try (Selector selector = Selector.open()) {
      server.register(selector, SelectionKey.OP_ACCEPT);
      List<Member> missing = missing();
      while (!missing.isEmpty()) {
        long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
        if (leftMs <= 0) {
          throw new LockstepException(missing + " did not connect within " + patienceMs + " ms");
        }
        selector.select(leftMs);
        selector.selectedKeys().clear();
        SocketChannel socket = server.accept();
        if (socket != null) {
          greet(new FrameChannel(socket), deadlineNs);
          missing = missing();
        }
      }
    }
  }

  private List<Member> missing() {
    List<Member> missing = new ArrayList<>();
    for (Member member : group.members().subList(1, channels.length)) {
      if (channels[member.index()] == null) {
        missing.add(member);
      }
    }
    return missing;
  }

  /** Admits a member. A foreign or silent connection does not keep members from connecting. */
  private void greet(FrameChannel channel, long deadlineNs) {
    long untilNs = Math.min(deadlineNs, System.nanoTime() + group.timeout().toNanos());
    TcpHello hello;
    try {
      hello = TcpHello.decode(channel.receive(TcpHello.MAX_BYTES, untilNs));
      if (hello == null || (!hello.worker().equals(group.worker()) && hello.member() >= 0)) {
        throw new IOException("it is not a member of this worker");
      }
      String refusal = hello.refusal(group);
      if (refusal == null && channels[hello.member()] != null) {
        throw new IOException("member " + hello.member() + " is already connected");
      }
      channel.send(ByteBuffer.wrap(refusal == null ? ACCEPTED : refusal.getBytes(UTF_8)), untilNs);
      if (refusal != null) {
        throw new LockstepException("the member at " + channel.peer() + " is rejected: " + refusal);
      }
      channels[hello.member()] = channel;
    } catch (IOException e) {
      LOG.warn("Rejected a connection from {}: {}", channel.peer(), e.getMessage());
      channel.close();
    } catch (LockstepException e) {
      channel.close();
      throw e;
    }
  }

  @Override
  public List<Member> members() {
    return group.members();
  }

  @Override
  public int self() {
    return 0;
  }

  @Override
  public GatheredFrames gather(ByteBuffer frame) {
    if (closed) {
      throw new LockstepException("the coordinator has left its group");
    }
    requireBounded(frame, group);
    gathered.set(0, frame);
    long deadlineNs = System.nanoTime() + group.timeout().toNanos();
    for (int member = 1; member < channels.length; member++) {
      if (gathered.loss(member) == null) {
        try {
          gathered.set(member, channels[member].receive(group.maxFrameBytes(), deadlineNs));
        } catch (IOException | RuntimeException e) {
          lose(member, e);
        }
      }
    }
    encodeAnswer();
    sendAnswer();
    return gathered;
  }

  static void requireBounded(ByteBuffer frame, TcpGroup group) {
    if (frame.remaining() > group.maxFrameBytes()) {
      throw new LockstepException(
          "a frame of "
              + frame.remaining()
              + " bytes is too long; maxFrameBytes is "
              + group.maxFrameBytes());
    }
  }

  /**
   * Encodes for each member either the frame's length and the frame, or -1 minus the length of the
   * reason for its loss and the reason.
   */
  private void encodeAnswer() {
    int bytes = 0;
    for (int member = 0; member < channels.length; member++) {
      ByteBuffer frame = gathered.frame(member);
      bytes += Integer.BYTES;
      bytes += frame == null ? reason(member).length : frame.remaining();
    }
    if (answer.capacity() < bytes) {
      answer = ByteBuffer.allocate(2 * bytes);
    }
    answer.clear();
    for (int member = 0; member < channels.length; member++) {
      ByteBuffer frame = gathered.frame(member);
      if (frame == null) {
        byte[] reason = reason(member);
        answer.putInt(-1 - reason.length).put(reason);
      } else {
        answer.putInt(frame.remaining()).put(frame.duplicate());
      }
    }
    answer.flip();
  }

  private byte[] reason(int member) {
    return gathered.loss(member).getBytes(UTF_8);
  }

  /**
   * A member that cannot be reached is lost, but its frame counts, because the others already
   * received it.
   */
  private void sendAnswer() {
    long deadlineNs = System.nanoTime() + group.timeout().toNanos();
    for (int member = 1; member < channels.length; member++) {
      if (gathered.loss(member) == null) {
        try {
          channels[member].send(answer, deadlineNs);
        } catch (IOException | RuntimeException e) {
          channels[member].close(); // the next gather reports the loss
        }
      }
    }
  }

  private void lose(int member, Exception e) {
    String why = e instanceof IOException && e.getMessage() != null ? e.getMessage() : e.toString();
    gathered.lose(member, group.members().get(member) + " is lost: " + why);
    channels[member].close();
  }

  @Override
  public void close() {
    closed = true;
    for (FrameChannel channel : channels) {
      if (channel != null) {
        channel.close();
      }
    }
  }
}
