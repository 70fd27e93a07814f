package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** A native index that is saved and reloaded at regular intervals. Not thread-safe. */
final class ReloadedIndex implements PrefixIndex {

  private static final int CHANGES_BETWEEN = 97;

  private NativePrefixIndex index;
  private int changes;

  ReloadedIndex(HashFormat format) {
    this.index = new NativePrefixIndex(format, 4, Long.MAX_VALUE);
  }

  static byte[] saved(NativePrefixIndex index) throws IOException {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    index.save(file);
    return file.toByteArray();
  }

  private void reload() {
    try {
      NativePrefixIndex loaded =
          NativePrefixIndex.load(new ByteArrayInputStream(saved(index)), Long.MAX_VALUE);
      index.close();
      index = loaded;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public ChangeStatus apply(RankId rank, BlockEvent change) {
    if (++changes % CHANGES_BETWEEN == 0) {
      reload();
    }
    return index.apply(rank, change);
  }

  @Override
  public void removeRank(RankId rank) {
    index.removeRank(rank);
  }

  @Override
  public void setVisible(RankId rank, boolean visible) {
    index.setVisible(rank, visible);
  }

  @Override
  public void match(long[] sequenceHashes, int blocks, RankMatches matches) {
    index.match(sequenceHashes, blocks, matches);
  }

  @Override
  public IndexStats stats() {
    return index.stats();
  }

  @Override
  public void close() {
    index.close();
  }
}
