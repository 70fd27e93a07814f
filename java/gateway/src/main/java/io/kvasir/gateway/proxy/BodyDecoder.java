package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyFailure;
import io.kvasir.exchange.BodyHold;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * Decodes coded bodies into memory. Decoded bytes count against the budget before they are
 * allocated, and have the same cap as a body that is not coded. Stateless.
 */
final class BodyDecoder {

  private static final int FIRST_BYTES = 16 << 10;

  private BodyDecoder() {}

  /** A body could not be decoded. */
  static final class FailedException extends Exception {

    private static final long serialVersionUID = 1;

    private final transient Problem problem;

    private FailedException(Problem problem) {
      super(problem.message(), null, false, false);
      this.problem = problem;
    }

    /** The reply. */
    Problem problem() {
      return problem;
    }
  }

  /**
   * Decodes a body. O(bytes).
   *
   * @param body the body as it arrived, which counts against the budget; it no longer does after
   *     this call, so the caller must drop it
   * @param codings how it is coded
   * @param maxBytes most bytes of the decoded body
   * @param hold what the request holds of the budget; holds the decoded body after this call
   * @return the decoded body
   * @throws FailedException if the body is damaged or too large, or the budget has no room
   */
  static byte[] decode(byte[] body, ContentCodings codings, long maxBytes, BodyHold hold)
      throws FailedException {
    try (InputStream from = codings.decoded(new ByteArrayInputStream(body), maxBytes)) {
      byte[] decoded = read(from, (int) Math.min(maxBytes, Integer.MAX_VALUE - 8), hold);
      hold.give(body.length);
      return decoded;
    } catch (ContentCodings.TooLargeException e) {
      throw new FailedException(Problem.of(BodyFailure.tooLarge(maxBytes)));
    } catch (IOException e) {
      throw new FailedException(
          Problem.invalid(
              null,
              "the body is not valid "
                  + String.join(", ", codings.names())
                  + ", as"
                  + " content-encoding names it"));
    } catch (LinkageError e) {
      throw new FailedException(
          Problem.of(
              415,
              Problem.UNSUPPORTED_CODING,
              "zstd cannot be decoded here: its library is missing"));
    }
  }

  private static byte[] read(InputStream from, int maxBytes, BodyHold hold)
      throws IOException, FailedException {
    byte[] bytes = {};
    int length = 0;
    while (true) {
      if (length == bytes.length) {
        if (length == maxBytes) {
          if (from.read() < 0) {
            return bytes;
          }
          throw new FailedException(Problem.of(BodyFailure.tooLarge(maxBytes)));
        }
        bytes = resized(bytes, (int) Math.min(maxBytes, Math.max(FIRST_BYTES, length * 2L)), hold);
      }
      int count = from.read(bytes, length, bytes.length - length);
      if (count < 0) {
        return resized(bytes, length, hold);
      }
      length += count;
    }
  }

  private static byte[] resized(byte[] bytes, int size, BodyHold hold) throws FailedException {
    int more = size - bytes.length;
    if (more > 0 && !hold.take(more)) {
      throw new FailedException(Problem.of(hold.refusal(more)));
    }
    byte[] resized = more == 0 ? bytes : Arrays.copyOf(bytes, size);
    hold.give(Math.max(0, -more));
    return resized;
  }
}
