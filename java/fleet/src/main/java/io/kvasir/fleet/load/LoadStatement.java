package io.kvasir.fleet.load;

import io.kvasir.model.Checks;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * What a router has in flight at one moment, among the attempts whose numbers are in a range: those
 * that it lists, and no other. A statement of many attempts has several parts, and each part can be
 * used without the others. Immutable by contract: the arrays are not copied and must not be
 * changed.
 *
 * <p>In bytes: the mark, version and router's id as in a {@link LoadFrame}; the ends of the range,
 * the number of attempts, and for each its number, its output tokens, and 1 if its prompt has been
 * computed, else 0; the CRC-32C of all bytes before it.
 *
 * @param routerId the router that states
 * @param from the first number of the range
 * @param to its last number, at least {@code from}
 * @param attempts the attempts in flight, ascending, in the range; at most {@link #MAX_ATTEMPTS}
 * @param outputTokens for each the tokens that have streamed out, 0 to {@link #MAX_OUTPUT_TOKENS}
 * @param prefilled for each whether its prompt has been computed
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the arrays are never used
public record LoadStatement(
    long routerId, long from, long to, long[] attempts, long[] outputTokens, boolean[] prefilled)
    implements ReplicaFrame {

  /** Most attempts of a part. */
  public static final int MAX_ATTEMPTS = 4096;

  /** Most output tokens of an attempt; more count as these. */
  public static final int MAX_OUTPUT_TOKENS = 1 << 28;

  static final int MARK = 0x534c564b; // "KVLS"

  private static final int HEAD_BYTES = 8 + 8 + 4;
  private static final int ATTEMPT_BYTES = 8 + 8 + 1;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if there are too many attempts, the arrays differ in length,
   *     or a number is out of range
   */
  public LoadStatement {
    Checks.within("attempts", attempts.length, 0, MAX_ATTEMPTS);
    Checks.within("outputTokens", outputTokens.length, attempts.length, attempts.length);
    Checks.within("prefilled", prefilled.length, attempts.length, attempts.length);
    Checks.atLeast("to", to, from);
    for (int i = 0; i < attempts.length; i++) {
      Checks.within("attempt", attempts[i], i == 0 ? from : attempts[i - 1] + 1, to);
      Checks.within("outputTokens", outputTokens[i], 0, MAX_OUTPUT_TOKENS);
    }
  }

  /** The parts of a statement of all attempts, in order. */
  static List<LoadStatement> of(long routerId, List<Booking> inFlight, long lastAttempt) {
    List<LoadStatement> parts = new ArrayList<>();
    long from = 0;
    int at = 0;
    do {
      int count = Math.min(MAX_ATTEMPTS, inFlight.size() - at);
      boolean last = at + count == inFlight.size();
      long to = last ? lastAttempt : inFlight.get(at + count - 1).attempt;
      parts.add(part(routerId, from, to, inFlight.subList(at, at + count)));
      from = to + 1;
      at += count;
    } while (at < inFlight.size());
    return parts;
  }

  private static LoadStatement part(long routerId, long from, long to, List<Booking> inFlight) {
    int count = inFlight.size();
    long[] attempts = new long[count];
    long[] outputTokens = new long[count];
    boolean[] prefilled = new boolean[count];
    for (int i = 0; i < count; i++) {
      Booking booking = inFlight.get(i);
      attempts[i] = booking.attempt;
      outputTokens[i] = Math.min(MAX_OUTPUT_TOKENS, booking.outputTokens);
      prefilled[i] = booking.prefillTokens == 0;
    }
    return new LoadStatement(routerId, from, to, attempts, outputTokens, prefilled);
  }

  /**
   * Writes the part. O(attempts).
   *
   * @return its bytes
   */
  public byte[] encode() {
    ByteBuffer out = FrameBytes.begin(MARK, routerId, HEAD_BYTES + ATTEMPT_BYTES * attempts.length);
    out.putLong(from).putLong(to).putInt(attempts.length);
    for (int i = 0; i < attempts.length; i++) {
      out.putLong(attempts[i]).putLong(outputTokens[i]).put((byte) (prefilled[i] ? 1 : 0));
    }
    return FrameBytes.end(out);
  }

  /**
   * Reads a part. O(bytes).
   *
   * @param bytes a whole part and nothing else
   * @return the part
   * @throws IllegalArgumentException if the bytes are anything else
   */
  public static LoadStatement decode(byte[] bytes) {
    ByteBuffer in = FrameBytes.open(bytes, MARK);
    long routerId = in.getLong();
    Checks.atLeast("bytes of a statement", in.remaining(), HEAD_BYTES);
    long from = in.getLong();
    long to = in.getLong();
    int count = in.getInt();
    Checks.within("attempts", count, 0, MAX_ATTEMPTS);
    long bytesOfAttempts = (long) count * ATTEMPT_BYTES;
    Checks.within("bytes of attempts", in.remaining(), bytesOfAttempts, bytesOfAttempts);
    long[] attempts = new long[count];
    long[] outputTokens = new long[count];
    boolean[] prefilled = new boolean[count];
    for (int i = 0; i < count; i++) {
      attempts[i] = in.getLong();
      outputTokens[i] = in.getLong();
      prefilled[i] = in.get() != 0;
    }
    return new LoadStatement(routerId, from, to, attempts, outputTokens, prefilled);
  }

  /** {@return the router, the range, and the number of attempts} */
  @Override
  public String toString() {
    return attempts.length + " attempts of router " + routerId + " from " + from + " to " + to;
  }
}
