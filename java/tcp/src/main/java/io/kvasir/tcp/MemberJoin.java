package io.kvasir.tcp;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.MemberHello;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A member's wait to join its group.
 *
 * <p>The coordinator closes unproven connections when too many wait, so a member whose connection
 * is closed before the handshake is complete connects again, a few times.
 *
 * <p>Confined to one thread.
 */
final class MemberJoin {

  private static final int ATTEMPTS = 5;
  private static final long PAUSE_MS = 100;

  private final Rendezvous rendezvous;
  private final GroupSecret secret;
  private final Member member;
  private final ByteBuffer hello;
  private final long deadlineNs;

  MemberJoin(
      Rendezvous rendezvous,
      GroupSettings group,
      GroupSecret secret,
      Member member,
      Duration timeout) {
    this.rendezvous = rendezvous;
    this.secret = secret;
    this.member = member;
    this.hello = MemberHello.of(group, member.index()).encode();
    this.deadlineNs = System.nanoTime() + timeout.toNanos();
  }

  /** Connects, and waits until all members have joined. */
  FrameChannel await() {
    try {
      FrameChannel channel = null;
      for (int attempt = 1; channel == null; attempt++) {
        channel = attempt(attempt == ATTEMPTS);
      }
      return channel;
    } catch (IOException e) {
      String where = " cannot join the coordinator at " + rendezvous.coordinator() + ": ";
      throw new LockstepException(member + where + FrameChannel.problem(e), e);
    }
  }

  /** The connection; null if the coordinator closed it during the handshake. */
  private @Nullable FrameChannel attempt(boolean last) throws IOException {
    FrameChannel channel = connect();
    try {
      if (prove(channel, last)) {
        awaitStart(channel);
        GroupCertificates certificates = secret.certificates();
        if (certificates != null) {
          channel.encrypt(certificates.engine(false), deadlineNs);
          awaitStart(channel);
        }
        return channel;
      }
      channel.close();
      pause();
      return null;
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  private FrameChannel connect() throws IOException {
    while (true) {
      try {
        return FrameChannel.connect(rendezvous.resolved(), rendezvous.from(), deadlineNs);
      } catch (ConnectException | NoRouteToHostException | UnknownHostException e) {
        if (!rendezvous.waits() || System.nanoTime() - deadlineNs >= 0) {
          throw e;
        }
        pause();
      }
    }
  }

  private static void pause() throws IOException {
    try {
      Thread.sleep(PAUSE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("this thread was interrupted", e);
    }
  }

  private boolean prove(FrameChannel channel, boolean last) throws IOException {
    String refusal;
    try {
      ByteBuffer challenge = channel.receive(TcpHandshake.CHALLENGE_BYTES, deadlineNs);
      TcpHandshake handshake = TcpHandshake.ofMember(secret, challenge);
      channel.send(handshake.hello(hello), deadlineNs);
      refusal = handshake.readAnswer(channel.receive(TcpHandshake.MAX_ANSWER_BYTES, deadlineNs));
    } catch (TcpHandshake.UnprovenPeerException | SocketTimeoutException e) {
      throw e;
    } catch (IOException e) {
      if (last) {
        String problem = FrameChannel.problem(e) + " during the handshake; its secret may differ";
        throw new IOException(problem, e);
      }
      return false;
    }
    if (!refusal.isEmpty()) {
      throw new LockstepException("the coordinator rejects " + member + ": " + refusal);
    }
    return true;
  }

  private void awaitStart(FrameChannel channel) throws IOException {
    ByteBuffer problem = channel.receive(TcpHandshake.MAX_ANSWER_BYTES, deadlineNs);
    if (problem.hasRemaining()) {
      throw new LockstepException("the coordinator ends the run: " + UTF_8.decode(problem));
    }
  }
}
