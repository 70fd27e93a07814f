package io.kvasir.benchmarks.index;

import io.kvasir.hash.Xxh3;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The header of a corpus file, little-endian: magic, version, counts, length and checksum of the
 * content, a description, and a checksum of the header itself.
 *
 * <p>Immutable. The content is a sequence of 64-bit words. Each operation is a word with its kind
 * (bits 56 to 63), its worker (bits 32 to 55) and its number of blocks (bits 0 to 31); a word with
 * its time in nanoseconds; if stored blocks have a parent, a word with the parent's handle; then
 * the local hashes of a query, the handle and local hash of each stored block, or the handles of
 * removed blocks. The content's checksum is XXH3-64 of each chunk of {@link #CHUNK_BYTES}, seeded
 * with the checksum of the previous chunk, or 0 for the first.
 *
 * @param counts queries, changes, and their blocks
 * @param hashNs time spent on the local hashes
 * @param hashedBlocks blocks hashed in that time
 * @param contentBytes length of the content
 * @param checksum of the content
 * @param description how the corpus was generated
 */
record CorpusHeader(
    CorpusCounts counts,
    long hashNs,
    long hashedBlocks,
    long contentBytes,
    long checksum,
    String description) {

  static final int BYTES = 4096;
  static final int CHUNK_BYTES = 1 << 20;

  static final int QUERY = 1;
  static final int STORED_ROOT = 2;
  static final int STORED_AFTER = 3;
  static final int REMOVED = 4;

  private static final long MAGIC = 0x58444E4952415652L; // "RVARINDX" as bytes
  private static final long VERSION = 1;
  private static final int CHECKED_BYTES = BYTES - Long.BYTES;
  private static final int MAX_TEXT = 2048;

  static long word(int kind, int worker, int count) {
    return (long) kind << 56 | (long) worker << 32 | count;
  }

  byte[] encode() {
    ByteBuffer bytes = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(MAGIC).putLong(VERSION);
    bytes.putLong(counts.workers()).putLong(counts.queries()).putLong(counts.changes());
    bytes.putLong(counts.queryBlocks()).putLong(counts.storedBlocks());
    bytes.putLong(counts.removedBlocks());
    bytes.putLong(hashNs).putLong(hashedBlocks).putLong(contentBytes).putLong(checksum);
    byte[] text = description.getBytes(StandardCharsets.UTF_8);
    text = Arrays.copyOf(text, Math.min(text.length, MAX_TEXT));
    bytes.putLong(text.length).put(text);
    bytes.putLong(CHECKED_BYTES, Xxh3.hash(Arrays.copyOf(bytes.array(), CHECKED_BYTES), 0));
    return bytes.array();
  }

  static CorpusHeader decode(Path file, byte[] read) throws InvalidCorpusException {
    ByteBuffer bytes = ByteBuffer.wrap(read).order(ByteOrder.LITTLE_ENDIAN);
    if (read.length < BYTES || bytes.getLong() != MAGIC) {
      throw new InvalidCorpusException(file + ": is not a corpus of kvasir bench index");
    }
    if (bytes.getLong(CHECKED_BYTES) != Xxh3.hash(Arrays.copyOf(read, CHECKED_BYTES), 0)) {
      throw new InvalidCorpusException(file + ": the header is damaged");
    }
    long version = bytes.getLong();
    if (version != VERSION) {
      throw new InvalidCorpusException(
          file + ": the corpus has version " + version + ", this kvasir reads " + VERSION);
    }
    CorpusCounts counts =
        new CorpusCounts(
            Math.toIntExact(bytes.getLong()),
            Math.toIntExact(bytes.getLong()),
            Math.toIntExact(bytes.getLong()),
            bytes.getLong(),
            bytes.getLong(),
            bytes.getLong());
    long hashNs = bytes.getLong();
    long hashedBlocks = bytes.getLong();
    long contentBytes = bytes.getLong();
    long checksum = bytes.getLong();
    byte[] text = new byte[(int) bytes.getLong()];
    bytes.get(text);
    return new CorpusHeader(
        counts,
        hashNs,
        hashedBlocks,
        contentBytes,
        checksum,
        new String(text, StandardCharsets.UTF_8));
  }
}
