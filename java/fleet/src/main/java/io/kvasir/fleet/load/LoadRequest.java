package io.kvasir.fleet.load;

import io.kvasir.model.Checks;
import java.nio.ByteBuffer;

/**
 * A router's request that another one reports placements again, which that one has stated to be in
 * flight and this one lacks. Immutable by contract: the array is not copied and must not be
 * changed.
 *
 * <p>In bytes: the mark, version and router's id as in a {@link LoadFrame}; the other router's id,
 * the number of attempts and the attempts; the CRC-32C of all bytes before it.
 *
 * @param routerId the router that asks
 * @param ofRouterId the router that is asked
 * @param attempts numbers of that router's attempts; at most {@link #MAX_ATTEMPTS}
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
public record LoadRequest(long routerId, long ofRouterId, long[] attempts) implements ReplicaFrame {

  /** Most attempts of a request. */
  public static final int MAX_ATTEMPTS = 4096;

  static final int MARK = 0x524c564b; // "KVLR"

  private static final int HEAD_BYTES = 8 + 4;

  /**
   * Checks the number of attempts.
   *
   * @throws IllegalArgumentException if there are too many
   */
  public LoadRequest {
    Checks.within("attempts", attempts.length, 0, MAX_ATTEMPTS);
  }

  /**
   * Writes the request. O(attempts).
   *
   * @return its bytes
   */
  public byte[] encode() {
    ByteBuffer out = FrameBytes.begin(MARK, routerId, HEAD_BYTES + Long.BYTES * attempts.length);
    out.putLong(ofRouterId).putInt(attempts.length);
    for (long attempt : attempts) {
      out.putLong(attempt);
    }
    return FrameBytes.end(out);
  }

  /**
   * Reads a request. O(bytes).
   *
   * @param bytes a whole request and nothing else
   * @return the request
   * @throws IllegalArgumentException if the bytes are anything else
   */
  public static LoadRequest decode(byte[] bytes) {
    ByteBuffer in = FrameBytes.open(bytes, MARK);
    long routerId = in.getLong();
    Checks.atLeast("bytes of a request", in.remaining(), HEAD_BYTES);
    long ofRouterId = in.getLong();
    int count = in.getInt();
    Checks.within("attempts", count, 0, MAX_ATTEMPTS);
    long bytesOfAttempts = (long) count * Long.BYTES;
    Checks.within("bytes of attempts", in.remaining(), bytesOfAttempts, bytesOfAttempts);
    long[] attempts = new long[count];
    in.asLongBuffer().get(attempts);
    return new LoadRequest(routerId, ofRouterId, attempts);
  }

  /** {@return the routers, and the number of attempts} */
  @Override
  public String toString() {
    return attempts.length + " attempts of router " + ofRouterId + " for router " + routerId;
  }
}
