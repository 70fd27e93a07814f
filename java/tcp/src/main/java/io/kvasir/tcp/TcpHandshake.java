package io.kvasir.tcp;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.kvasir.engine.lockstep.MemberHello;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/**
 * The frames by which a member and its coordinator prove to each other that they have the group's
 * secret.
 *
 * <ol>
 *   <li>The coordinator sends a challenge: magic number, nonce.
 *   <li>The member sends its hello: magic number, nonce, proof, body ({@link MemberHello}).
 *   <li>The coordinator sends its answer: proof, reason of a refusal or nothing.
 * </ol>
 *
 * <p>The magic number states whether the group encrypts its connections once all have joined. A
 * proof is the HMAC of the sender's role, both nonces and the rest of the frame. This framing is
 * the same in all versions, so that a member of another version is authenticated before its version
 * is read.
 */
final class TcpHandshake {

  private static final int PLAIN = 0x4b56_4a4e; // KVJN
  private static final int ENCRYPTED = 0x4b56_4a53; // KVJS
  private static final int NONCE_BYTES = 32;
  private static final int PROOF_BYTES = 32;

  static final int CHALLENGE_BYTES = Integer.BYTES + NONCE_BYTES;
  static final int MIN_HELLO_BYTES = Integer.BYTES + NONCE_BYTES + PROOF_BYTES;
  static final int MAX_HELLO_BYTES = MIN_HELLO_BYTES + MemberHello.MAX_BYTES;
  static final int MAX_ANSWER_BYTES = PROOF_BYTES + (1 << 16);

  private static final byte[] MEMBER = "kvasir lock-step member".getBytes(US_ASCII);
  private static final byte[] COORDINATOR = "kvasir lock-step coordinator".getBytes(US_ASCII);

  private final GroupSecret secret;
  private final ByteBuffer coordinatorNonce;

  /** Null until the coordinator has read the hello. */
  private @Nullable ByteBuffer memberNonce;

  private TcpHandshake(
      GroupSecret secret, ByteBuffer coordinatorNonce, @Nullable ByteBuffer memberNonce) {
    this.secret = secret;
    this.coordinatorNonce = coordinatorNonce;
    this.memberNonce = memberNonce;
  }

  /** The coordinator's side of a handshake with a new connection. */
  static TcpHandshake ofCoordinator(GroupSecret secret) {
    return new TcpHandshake(secret, nonce(), null);
  }

  /** The member's side of a handshake. */
  static TcpHandshake ofMember(GroupSecret secret, ByteBuffer challenge) throws IOException {
    int magic = challenge.remaining() == CHALLENGE_BYTES ? challenge.getInt() : 0;
    if (magic != PLAIN && magic != ENCRYPTED) {
      throw new UnprovenPeerException("it is no coordinator");
    }
    if (magic != magic(secret)) {
      throw new UnprovenPeerException(
          magic == PLAIN
              ? "it does not encrypt its connections, and this process does"
              : "it encrypts its connections, and this process does not");
    }
    return new TcpHandshake(secret, copy(challenge), nonce());
  }

  private static int magic(GroupSecret secret) {
    return secret.certificates() == null ? PLAIN : ENCRYPTED;
  }

  private static ByteBuffer nonce() {
    return ByteBuffer.wrap(GroupSecret.randomBytes(NONCE_BYTES));
  }

  private static ByteBuffer copy(ByteBuffer from) {
    return ByteBuffer.allocate(from.remaining()).put(from).flip();
  }

  ByteBuffer challenge() {
    ByteBuffer frame = ByteBuffer.allocate(CHALLENGE_BYTES);
    return frame.putInt(magic(secret)).put(coordinatorNonce.duplicate()).flip();
  }

  ByteBuffer hello(ByteBuffer body) {
    ByteBuffer frame = ByteBuffer.allocate(MIN_HELLO_BYTES + body.remaining());
    frame.putInt(magic(secret)).put(memberNonce().duplicate()).put(proof(MEMBER, body));
    return frame.put(body.duplicate()).flip();
  }

  /** The body of a hello, once its proof is verified. */
  ByteBuffer readHello(ByteBuffer hello) throws UnprovenPeerException {
    if (hello.remaining() < MIN_HELLO_BYTES || hello.getInt() != magic(secret)) {
      throw new UnprovenPeerException("it sent no hello of this protocol");
    }
    memberNonce = copy(hello.slice(hello.position(), NONCE_BYTES));
    hello.position(hello.position() + NONCE_BYTES);
    return verified(hello, MEMBER);
  }

  /** The answer to a hello whose proof is verified. An empty refusal admits the member. */
  ByteBuffer answer(String refusal) {
    ByteBuffer body = ByteBuffer.wrap(refusal.getBytes(UTF_8));
    body.limit(Math.min(body.limit(), MAX_ANSWER_BYTES - PROOF_BYTES));
    ByteBuffer frame = ByteBuffer.allocate(PROOF_BYTES + body.remaining());
    return frame.put(proof(COORDINATOR, body)).put(body).flip();
  }

  /** Why the coordinator refuses the member, or nothing, once the proof is verified. */
  String readAnswer(ByteBuffer answer) throws UnprovenPeerException {
    return UTF_8.decode(verified(answer, COORDINATOR)).toString();
  }

  private ByteBuffer verified(ByteBuffer frame, byte[] role) throws UnprovenPeerException {
    byte[] proof = new byte[Math.min(PROOF_BYTES, frame.remaining())];
    frame.get(proof);
    if (!MessageDigest.isEqual(proof, proof(role, frame))) {
      throw new UnprovenPeerException("it has not proven that it has the group's secret");
    }
    return frame;
  }

  private ByteBuffer memberNonce() {
    if (memberNonce == null) {
      throw new IllegalStateException("the hello has not been read");
    }
    return memberNonce;
  }

  private byte[] proof(byte[] role, ByteBuffer body) {
    return secret.mac(ByteBuffer.wrap(role), coordinatorNonce, memberNonce(), body);
  }

  /** The peer has not proven that it has the secret. */
  static final class UnprovenPeerException extends IOException {

    private static final long serialVersionUID = 1L;

    UnprovenPeerException(String message) {
      super(message);
    }
  }
}
