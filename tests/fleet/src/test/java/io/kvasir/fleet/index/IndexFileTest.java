package io.kvasir.fleet.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class IndexFileTest {

  private static final RankId RANK = new RankId(-3, 1);

  private static NativePrefixIndex filled() {
    NativePrefixIndex index = new NativePrefixIndex(HashFormat.KVASIR, 16, 1 << 20);
    long[] first = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    index.apply(RANK, BlockEvent.Stored.root(first, first));
    index.apply(RANK, BlockEvent.Stored.after(4, new long[] {50, 60}, new long[] {50, 60}));
    index.apply(RANK, BlockEvent.Removed.of(new long[] {2}));
    index.apply(new RankId(7, 0), BlockEvent.Stored.root(first, first));
    return index;
  }

  private static NativePrefixIndex load(byte[] file) throws IOException {
    return NativePrefixIndex.load(new ByteArrayInputStream(file), 1 << 20);
  }

  @Test
  void whatLiesBehindAHoleIsKeptAndComesBackWhenTheHoleIsFilled() throws IOException {
    long[] prompt = NaiveIndex.chain(HashFormat.KVASIR, 0, 1, 2, 3, 4, 50, 60);
    RankMatches matches = new RankMatches();
    try (NativePrefixIndex index = filled();
        NativePrefixIndex loaded = load(ReloadedIndex.saved(index))) {
      assertThat(loaded.tokensPerBlock()).isEqualTo(16);
      assertThat(loaded.stats().memberships()).isEqualTo(index.stats().memberships());
      loaded.match(prompt, prompt.length, matches);
      assertThat(matches.blocks(RANK)).isEqualTo(1);
      loaded.apply(RANK, BlockEvent.Stored.after(1, new long[] {99}, new long[] {2}));
      loaded.match(prompt, prompt.length, matches);
      assertThat(matches.blocks(RANK)).isEqualTo(6);
    }
  }

  @Test
  void refusesAFileThatEndsTooEarlyWhereverThatIs() throws IOException {
    byte[] file;
    try (NativePrefixIndex index = filled()) {
      file = ReloadedIndex.saved(index);
    }
    for (int length = 0; length < file.length; length++) {
      byte[] torn = Arrays.copyOf(file, length);
      assertThatThrownBy(() -> load(torn))
          .as("%d of %d bytes", length, file.length)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("the file ends too early");
    }
  }

  @Test
  void refusesADamagedFileWhereverTheDamageIs() throws IOException {
    byte[] file;
    try (NativePrefixIndex index = filled()) {
      file = ReloadedIndex.saved(index);
    }
    Random random = new Random(5);
    for (int i = 0; i < file.length; i++) {
      byte[] damaged = file.clone();
      damaged[i] ^= (byte) (1 << random.nextInt(8));
      assertThatThrownBy(() -> load(damaged))
          .as("byte %d of %d", i, file.length)
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("the file ");
    }
  }

  @Test
  void refusesANegativeCountWhoseChecksumIsRight() throws IOException {
    byte[] file;
    try (NativePrefixIndex empty = new NativePrefixIndex(HashFormat.KVASIR, 16, 1 << 20)) {
      file = ReloadedIndex.saved(empty);
    }
    for (int i = 1; i <= 3; i++) { // runs, ranks and hidden ranks, before the checksum
      ByteBuffer damaged = ByteBuffer.wrap(file.clone());
      int end = file.length - Long.BYTES;
      damaged.putInt(end - i * Integer.BYTES, -1);
      CRC32C checksum = new CRC32C();
      checksum.update(damaged.array(), 0, end);
      damaged.putLong(end, checksum.getValue());
      assertThatThrownBy(() -> load(damaged.array()))
          .isInstanceOf(IOException.class)
          .hasMessage("the file is damaged: a negative length");
    }
  }
}
