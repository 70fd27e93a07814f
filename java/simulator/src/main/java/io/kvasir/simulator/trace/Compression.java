package io.kvasir.simulator.trace;

import com.github.luben.zstd.ZstdInputStream;
import io.kvasir.model.Errors;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import org.tukaani.xz.XZInputStream;

/**
 * Opens plain, gzip, xz and zstd files. The format is detected from the first bytes, not from the
 * file's name.
 */
final class Compression {

  private static final int BUFFER_BYTES = 1 << 16;
  private static final int[] GZIP = {0x1f, 0x8b};
  private static final int[] XZ = {0xfd, '7', 'z', 'X', 'Z', 0x00};
  private static final int[] ZSTD = {0x28, 0xb5, 0x2f, 0xfd};

  private Compression() {}

  /**
   * Opens a file for reading its uncompressed bytes, as a stream.
   *
   * @param file the file
   * @return the uncompressed bytes
   * @throws InvalidTraceException if its compressed header is damaged
   * @throws IOException if it cannot be opened
   */
  static InputStream open(Path file) throws IOException {
    InputStream raw = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES);
    try {
      if (startsWith(raw, GZIP)) {
        return new GZIPInputStream(raw, BUFFER_BYTES);
      }
      if (startsWith(raw, XZ)) {
        return new XZInputStream(raw);
      }
      if (startsWith(raw, ZSTD)) {
        return new ZstdInputStream(raw);
      }
      return raw;
    } catch (IOException e) {
      raw.close();
      throw new InvalidTraceException(
          Errors.shown(file) + ": the file is damaged or cut short: " + Errors.reason(e), e);
    } catch (RuntimeException e) {
      raw.close();
      throw e;
    }
  }

  private static boolean startsWith(InputStream stream, int[] magic) throws IOException {
    stream.mark(magic.length);
    boolean same = true;
    for (int expected : magic) {
      same &= stream.read() == expected;
    }
    stream.reset();
    return same;
  }
}
