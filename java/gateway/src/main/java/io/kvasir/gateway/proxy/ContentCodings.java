package io.kvasir.gateway.proxy;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import io.kvasir.exchange.Headers;
import io.kvasir.model.Errors;
import java.io.BufferedInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.zip.GZIPInputStream;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;
import org.jspecify.annotations.Nullable;

/**
 * The codings of a request's body, in the order in which they were applied (RFC 9110, section 8.4).
 * Immutable.
 *
 * @param names {@code gzip}, {@code deflate} or {@code zstd} each
 */
record ContentCodings(List<String> names) {

  /** The name of the field. */
  static final String FIELD = "content-encoding";

  /** What {@code Accept-Encoding} says of requests. */
  static final String SUPPORTED = "gzip, deflate, zstd";

  /** The codings of a body that is not coded. */
  static final ContentCodings NONE = new ContentCodings(List.of());

  /** Most codings of one body. */
  private static final int MAX_CODINGS = 3;

  /** The largest window that a zstd body may need: 8 MiB (RFC 9659). */
  private static final int MAX_WINDOW_LOG = 23;

  private static final int BUFFER_BYTES = 8 << 10;

  /** Copies the list. */
  ContentCodings {
    names = List.copyOf(names);
  }

  /** A body is coded in a way that the gateway does not decode. */
  static final class UnsupportedException extends Exception {

    private static final long serialVersionUID = 1;

    private UnsupportedException(String message) {
      super(message, null, false, false);
    }
  }

  /**
   * {@return the codings that a request's fields name, without which they pass on}
   *
   * @param headers the request's fields; no longer name a coding after this call
   * @throws UnsupportedException if one is not known, or there are too many; the message names it
   */
  static ContentCodings taken(Headers headers) throws UnsupportedException {
    if (headers.get(FIELD) == null) {
      return NONE;
    }
    List<String> names = new ArrayList<>();
    for (String name : String.join(",", headers.all(FIELD)).split(",", -1)) {
      switch (name.strip().toLowerCase(Locale.ROOT)) {
        case "", "identity" -> {} // the body as it is
        case "gzip", "x-gzip" -> names.add("gzip");
        case "deflate" -> names.add("deflate");
        case "zstd" -> names.add("zstd");
        default ->
            throw new UnsupportedException(
                "content-encoding must be one of "
                    + SUPPORTED
                    + ", not '"
                    + Errors.shown(name.strip())
                    + "'");
      }
    }
    if (names.size() > MAX_CODINGS) {
      throw new UnsupportedException(
          "content-encoding must name at most " + MAX_CODINGS + " codings");
    }
    headers.remove(FIELD);
    return names.isEmpty() ? NONE : new ContentCodings(names);
  }

  /** Whether the body is not coded. */
  boolean isNone() {
    return names.isEmpty();
  }

  /**
   * {@return the decoded bytes of a body, whose reader closes them}
   *
   * @param body the body as it arrived
   * @param maxBytes most bytes that a coding may yield to the next one
   * @throws IOException if the body is damaged at its beginning
   */
  InputStream decoded(InputStream body, long maxBytes) throws IOException {
    InputStream decoded = body;
    try {
      for (int i = names.size() - 1; i >= 0; i--) {
        decoded =
            decoded(names.get(i), i == names.size() - 1 ? body : new Capped(decoded, maxBytes));
      }
      return decoded;
    } catch (IOException | RuntimeException | Error e) {
      decoded.close(); // a decoder may hold native memory
      throw e;
    }
  }

  private static InputStream decoded(String coding, InputStream from) throws IOException {
    return switch (coding) {
      case "gzip" -> new GZIPInputStream(from, BUFFER_BYTES);
      case "zstd" -> new ZstdInputStreamNoFinalizer(from).setLongMax(MAX_WINDOW_LOG);
      default -> inflated(new BufferedInputStream(from, BUFFER_BYTES));
    };
  }

  /** Deflated bytes have the header of zlib; some clients send them without it. */
  private static InputStream inflated(InputStream from) throws IOException {
    from.mark(2);
    int first = from.read();
    int second = from.read();
    from.reset();
    boolean zlib = (first & 0xf) == 8 && (first << 8 | second) % 31 == 0;
    return new Inflated(from, new Inflater(!zlib));
  }

  /** Frees its inflater when it is closed. */
  private static final class Inflated extends InflaterInputStream {

    Inflated(InputStream from, Inflater inflater) {
      super(from, inflater, BUFFER_BYTES);
    }

    @Override
    public void close() throws IOException {
      super.close();
      inf.end();
    }
  }

  /** What lies between two codings, which must not be larger than a body. */
  private static final class Capped extends FilterInputStream {

    private long left;

    Capped(InputStream from, long maxBytes) {
      super(from);
      this.left = maxBytes;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte @Nullable [] bytes, int offset, int length) throws IOException {
      int count = super.read(bytes, offset, length);
      left -= Math.max(count, 0);
      if (left < 0) {
        throw new TooLargeException();
      }
      return count;
    }
  }

  /** A coding yields more than a body may have. */
  static final class TooLargeException extends IOException {

    private static final long serialVersionUID = 1;

    private TooLargeException() {
      super("a coding of the body yields too many bytes");
    }
  }
}
