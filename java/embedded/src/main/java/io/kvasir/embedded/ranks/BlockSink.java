package io.kvasir.embedded.ranks;

import io.kvasir.embedded.publish.BlockChange;
import java.util.List;

/** Receives the changes of the ranks' blocks, on the ranks' thread. */
public interface BlockSink {

  /** Drops everything. */
  BlockSink NONE =
      new BlockSink() {
        @Override
        public long take(int rank, List<BlockChange> changes) {
          return -1;
        }

        @Override
        public void restart(int rank) {}
      };

  /**
   * Takes the changes of an iteration.
   *
   * @param rank the rank
   * @param changes at least one change, in order
   * @return the number under which they, or the last of them, are published; -1 if they are not
   */
  long take(int rank, List<BlockChange> changes);

  /**
   * A rank restarts without blocks; its numbers start from 0.
   *
   * @param rank the rank
   */
  void restart(int rank);
}
