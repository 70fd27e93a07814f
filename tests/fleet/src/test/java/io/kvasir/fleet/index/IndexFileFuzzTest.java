package io.kvasir.fleet.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Fuzz;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Mutated files of an index. Each is refused with an I/O exception, or gives an index that behaves
 * as the file says.
 */
@Tag("fuzz")
class IndexFileFuzzTest {

  private static final byte[][] TOKENS =
      LongStream.of(0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 1L << 32, Long.MAX_VALUE)
          .mapToObj(number -> ByteBuffer.allocate(Long.BYTES).putLong(number).array())
          .flatMap(word -> List.of(word, Arrays.copyOfRange(word, 4, 8)).stream())
          .toArray(byte[][]::new);

  @Test
  void aMutatedFileIsRefusedOrMeansWhatItSays() throws Exception {
    Fuzz.run("index file", IndexFileFuzzTest::check);
  }

  private static void check(Random random) throws IOException {
    byte[] file = file(random);
    byte[] mutated =
        random.nextInt(8) == 0
            ? file
            : random.nextBoolean() ? Fuzz.mutated(random, file, TOKENS) : words(random, file);
    Contents contents = Contents.of(mutated);
    boolean sameChecksum = contents != null && random.nextInt(4) != 0;
    if (sameChecksum) {
      CRC32C checksum = new CRC32C();
      checksum.update(mutated, 0, contents.bytes);
      mutated = Arrays.copyOf(mutated, Math.max(mutated.length, contents.bytes + Long.BYTES));
      ByteBuffer.wrap(mutated).putLong(contents.bytes, checksum.getValue());
    }
    try (NativePrefixIndex index =
        NativePrefixIndex.load(new ByteArrayInputStream(mutated), 1 << 20)) {
      assertThat(contents != null && !contents.malformed).as("is well-formed").isTrue();
      if (!sameChecksum) {
        assertThat(mutated).as("the checksum was not checked").startsWith(file);
      }
      contents.compare(index);
      try (NativePrefixIndex again =
          NativePrefixIndex.load(
              new ByteArrayInputStream(ReloadedIndex.saved(index)), Long.MAX_VALUE)) {
        contents.compare(again);
      }
      contents.removeFrom(index);
    } catch (IOException e) {
      assertThat(e.getMessage()).isNotNull();
      assertThat(mutated).as("refused: " + e.getMessage()).isNotEqualTo(file);
    }
  }

  /** A small index with shared prefixes, holes, several handles of a block and hidden ranks. */
  private static byte[] file(Random random) throws IOException {
    List<HashFormat> formats = List.of(HashFormat.values());
    HashFormat format = formats.get(random.nextInt(formats.size()));
    try (NativePrefixIndex index = new NativePrefixIndex(format, 4, 1 << 20)) {
      RandomChains chains = new RandomChains(random, 3, 8);
      for (int i = random.nextInt(1 + random.nextInt(20)); i > 0; i--) {
        RankId rank = new RankId(random.nextInt(3) - 1, random.nextInt(3));
        long[] sequence = NaiveIndex.chain(HashFormat.KVASIR, 0, chains.next());
        long[] handles = random.longs(sequence.length, 0, 200).toArray();
        switch (random.nextInt(6)) {
          case 0 -> index.apply(rank, BlockEvent.Removed.of(handles));
          case 1 -> index.setVisible(rank, false);
          default ->
              index.apply(
                  rank,
                  new BlockEvent.Stored(
                      null, true, 0, 0, handles, null, sequence, BlockEvent.Repeats.SAME));
        }
      }
      return ReloadedIndex.saved(index);
    }
  }

  /** Copies or changes whole numbers of the file, so that it stays well-formed more often. */
  private static byte[] words(Random random, byte[] file) {
    ByteBuffer changed = ByteBuffer.wrap(file.clone());
    int begin = 2 * Integer.BYTES + Short.BYTES + changed.getShort(2 * Integer.BYTES);
    int words = (file.length - begin) / Integer.BYTES - 1;
    for (int i = 1 + random.nextInt(3); i > 0; i--) {
      int to = begin + random.nextInt(words) * Integer.BYTES;
      int from = begin + random.nextInt(words) * Integer.BYTES;
      switch (random.nextInt(3)) {
        case 0 -> changed.putInt(to, changed.getInt(to) + random.nextInt(5) - 2);
        case 1 -> changed.putInt(to, changed.getInt(from));
        default -> changed.putLong(to, changed.getLong(from));
      }
    }
    return changed.array();
  }

  /** What a file says: each rank's handles, and the block that each one names. */
  private static final class Contents {

    /** The hashes from the root to each block, by run and offset. */
    private final List<List<List<Long>>> runs = new ArrayList<>();

    private final Map<RankId, Map<Long, List<Long>>> ranks = new HashMap<>();
    private final Set<RankId> hidden = new HashSet<>();
    private final Set<Long> hashes = new HashSet<>();
    private int bytes;
    private boolean malformed;

    /** A hash stands for its whole prefix; where it has several, matches are not defined. */
    private boolean ambiguous;

    /** Null if the file ends too early or has an impossible rank. */
    static Contents of(byte[] file) {
      ByteArrayInputStream in = new ByteArrayInputStream(file);
      try {
        Contents contents = new Contents();
        contents.read(new DataInputStream(in));
        contents.bytes = file.length - in.available();
        return contents;
      } catch (IOException | IllegalArgumentException e) {
        return null;
      }
    }

    private void read(DataInputStream data) throws IOException {
      malformed = data.readInt() != 0x4B564958 || data.readInt() != 1;
      String unused = data.readUTF();
      malformed |= data.readInt() < 1;
      for (int left = count(data); left > 0; left--) {
        readRun(data);
      }
      for (int left = count(data); left > 0; left--) {
        readRank(data);
      }
      for (int left = count(data); left > 0; left--) {
        hidden.add(rank(data));
      }
    }

    private void readRun(DataInputStream data) throws IOException {
      long parent = data.readLong();
      List<Long> path = parent == -1 ? List.of() : block(parent);
      List<List<Long>> run = new ArrayList<>();
      for (long hash : numbers(data)) {
        path = new ArrayList<>(path);
        path.add(hash);
        run.add(path);
        ambiguous |= !hashes.add(hash);
      }
      malformed |= run.isEmpty();
      runs.add(run);
    }

    private void readRank(DataInputStream data) throws IOException {
      Map<Long, List<Long>> held = new TreeMap<>();
      malformed |= ranks.put(rank(data), held) != null;
      long[] handles = numbers(data);
      long[] places = numbers(data);
      malformed |= handles.length != places.length;
      for (int i = 0; i < Math.min(handles.length, places.length); i++) {
        malformed |= held.put(handles[i], block(places[i])) != null;
      }
    }

    private List<Long> block(long place) {
      long run = place >>> 32;
      int offset = (int) place;
      if (run >= runs.size() || offset < 0 || offset >= runs.get((int) run).size()) {
        malformed = true;
        return List.of();
      }
      return runs.get((int) run).get(offset);
    }

    private static RankId rank(DataInputStream data) throws IOException {
      return new RankId(data.readLong(), data.readInt());
    }

    private int count(DataInputStream data) throws IOException {
      int count = data.readInt();
      if (count > data.available()) {
        throw new IOException("ends too early");
      }
      malformed |= count < 0;
      return Math.max(0, count);
    }

    private long[] numbers(DataInputStream data) throws IOException {
      long[] numbers = new long[count(data)];
      for (int i = 0; i < numbers.length; i++) {
        numbers[i] = data.readLong();
      }
      return numbers;
    }

    void compare(NativePrefixIndex index) {
      Set<List<Long>> held = new HashSet<>();
      long memberships = 0;
      for (Map<Long, List<Long>> blocks : ranks.values()) {
        held.addAll(blocks.values());
        memberships += blocks.size();
      }
      assertThat(index.stats().memberships()).isEqualTo(memberships);
      assertThat(index.stats().ranks()).isEqualTo(ranks.size());
      if (ambiguous) {
        return;
      }
      assertThat(index.stats().distinctBlocks()).isEqualTo(held.size());
      for (List<List<Long>> run : runs) {
        List<Long> prompt = run.get(run.size() - 1);
        assertThat(IndexScenario.match(index, prompt.stream().mapToLong(Long::longValue).toArray()))
            .as("match of " + prompt)
            .isEqualTo(match(prompt));
      }
    }

    private Map<RankId, Integer> match(List<Long> prompt) {
      Map<RankId, Integer> matches = new TreeMap<>();
      ranks.forEach(
          (rank, blocks) -> {
            int matched = 0;
            while (matched < prompt.size()
                && blocks.containsValue(prompt.subList(0, matched + 1))) {
              matched++;
            }
            if (matched > 0 && !hidden.contains(rank)) {
              matches.put(rank, matched);
            }
          });
      return matches;
    }

    void removeFrom(NativePrefixIndex index) {
      ranks.forEach(
          (rank, blocks) -> {
            long[] handles = blocks.keySet().stream().mapToLong(Long::longValue).toArray();
            assertThat(index.apply(rank, BlockEvent.Removed.of(handles)))
                .isEqualTo(handles.length == 0 ? ChangeStatus.UNCHANGED : ChangeStatus.APPLIED);
          });
      assertThat(index.stats().memberships()).isZero();
      assertThat(index.stats().distinctBlocks()).isZero();
    }
  }
}
