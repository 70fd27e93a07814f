package io.kvasir.fleet.index;

import io.kvasir.hash.HashFormat;
import io.kvasir.internal.nativelib.IndexLibrary;
import io.kvasir.internal.nativelib.NativeStatus;
import io.kvasir.model.Choice;
import io.kvasir.model.RankId;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import java.util.zip.CheckedOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * The file of a prefix index: a header, the runs with their sequence hashes (parents first), the
 * ranks with their handles, the hidden ranks, and a checksum. All numbers are big-endian.
 */
final class IndexFile {

  private static final int MAGIC = 0x4B564958; // KVIX
  private static final int VERSION = 1;
  private static final String COPY = "a copy of an index";
  private static final int CHUNK = 1 << 16;

  private IndexFile() {}

  static void write(
      OutputStream out,
      NativePrefixIndex index,
      long address,
      Map<RankId, Integer> slots,
      Set<RankId> hidden)
      throws IOException {
    CheckedOutputStream checked = new CheckedOutputStream(out, new CRC32C());
    DataOutputStream data = new DataOutputStream(new BufferedOutputStream(checked, CHUNK));
    int runs = (int) NativeStatus.require(IndexLibrary.kvasir_index_begin_copy(address), COPY);
    try {
      data.writeInt(MAGIC);
      data.writeInt(VERSION);
      data.writeUTF(index.format().id());
      data.writeInt(index.tokensPerBlock());
      data.writeInt(runs);
      for (int run = 0; run < runs; run++) {
        long[] names = new long[IndexLibrary.kvasir_index_copied_length(address, run)];
        data.writeLong(IndexLibrary.kvasir_index_copy_run(address, run, names));
        writeLongs(data, names);
      }
      data.writeInt(slots.size());
      for (Map.Entry<RankId, Integer> slot : slots.entrySet()) {
        int handleCount =
            Math.toIntExact(IndexLibrary.kvasir_index_memberships(address, slot.getValue()));
        long[] handles = new long[handleCount];
        long[] places = new long[handleCount];
        if (handleCount > 0) {
          NativeStatus.require(
              IndexLibrary.kvasir_index_copy_rank(address, slot.getValue(), handles, places), COPY);
        }
        writeRank(data, slot.getKey());
        writeLongs(data, handles);
        writeLongs(data, places);
      }
    } finally {
      IndexLibrary.kvasir_index_end_copy(address);
    }
    data.writeInt(hidden.size());
    for (RankId rank : hidden) {
      writeRank(data, rank);
    }
    data.flush();
    data.writeLong(checked.getChecksum().getValue());
    data.flush();
  }

  private static void writeRank(DataOutputStream data, RankId rank) throws IOException {
    data.writeLong(rank.workerId());
    data.writeInt(rank.dpRank());
  }

  private static RankId readRank(DataInputStream data) throws IOException {
    return new RankId(data.readLong(), data.readInt());
  }

  private static void writeLongs(DataOutputStream data, long[] numbers) throws IOException {
    data.writeInt(numbers.length);
    for (long number : numbers) {
      data.writeLong(number);
    }
  }

  static NativePrefixIndex read(InputStream in, long maxBytes) throws IOException {
    CheckedInputStream checked =
        new CheckedInputStream(new BufferedInputStream(in, CHUNK), new CRC32C());
    DataInputStream data = new DataInputStream(checked);
    NativePrefixIndex index = null;
    try {
      require(data.readInt() == MAGIC, "is not a prefix index");
      int version = data.readInt();
      require(version == VERSION, "has version " + version + ", not " + VERSION);
      HashFormat format =
          Choice.named("hash format", HashFormat.values(), HashFormat::id, data.readUTF());
      index = new NativePrefixIndex(format, data.readInt(), maxBytes);
      readRuns(data, index);
      readRanks(data, index);
      index.endLoad();
      long checksum = checked.getChecksum().getValue();
      require(data.readLong() == checksum, "is damaged: its checksum differs");
      return index;
    } catch (EOFException e) {
      close(index);
      throw new IOException("the file ends too early", e);
    } catch (IllegalArgumentException e) {
      close(index);
      throw new IOException("the file is damaged: " + e.getMessage(), e);
    } catch (IOException | RuntimeException e) {
      close(index);
      throw e;
    }
  }

  private static void readRuns(DataInputStream data, NativePrefixIndex index) throws IOException {
    int runs = readCount(data);
    for (int run = 0; run < runs; run++) {
      long parent = data.readLong();
      long[] names = readLongs(data);
      require(index.loadRun(parent, names), "is damaged: run " + run + " is inconsistent");
    }
  }

  private static void readRanks(DataInputStream data, NativePrefixIndex index) throws IOException {
    int ranks = readCount(data);
    for (int i = 0; i < ranks; i++) {
      RankId rank = readRank(data);
      long[] handles = readLongs(data);
      long[] places = readLongs(data);
      require(
          handles.length == places.length && index.loadRank(rank, handles, places),
          "is damaged: rank " + i + " is inconsistent");
    }
    int hidden = readCount(data);
    for (int i = 0; i < hidden; i++) {
      index.setVisible(readRank(data), false);
    }
  }

  /** Reads a counted array; memory grows with the bytes read, not with the stored count. */
  private static long[] readLongs(DataInputStream data) throws IOException {
    int count = readCount(data);
    long[] numbers = new long[Math.min(count, CHUNK)];
    for (int i = 0; i < count; i++) {
      if (i == numbers.length) {
        numbers = Arrays.copyOf(numbers, Math.min(count, 2 * i));
      }
      numbers[i] = data.readLong();
    }
    return numbers;
  }

  private static int readCount(DataInputStream data) throws IOException {
    int count = data.readInt();
    require(count >= 0, "is damaged: a negative length");
    return count;
  }

  private static void require(boolean condition, String otherwise) throws IOException {
    if (!condition) {
      throw new IOException("the file " + otherwise);
    }
  }

  private static void close(@Nullable NativePrefixIndex index) {
    if (index != null) {
      index.close();
    }
  }
}
