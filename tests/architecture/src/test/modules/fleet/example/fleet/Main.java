package example.fleet;

import io.kvasir.fleet.index.ApproximateIndex;
import io.kvasir.fleet.index.ApproximateOptions;
import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;

/** Places a prompt of three blocks on a rank, and matches its first two. */
public final class Main {

  private static final int TOKENS_PER_BLOCK = 16;

  private Main() {}

  /** Prints what matched. */
  public static void main(String[] arguments) {
    NativeBlockHasher hasher = NativeBlockHasher.of(HashFormat.KVASIR, TOKENS_PER_BLOCK);
    BlockHashes prompt = new BlockHashes(new long[3], new long[3]);
    hasher.hashBlocks(
        CacheScope.NONE, new int[3 * TOKENS_PER_BLOCK], 0, 3, prompt.local(), prompt.sequence());
    try (ApproximateIndex index =
        new ApproximateIndex(
            new NativePrefixIndex(HashFormat.KVASIR, TOKENS_PER_BLOCK, 1 << 24),
            ApproximateOptions.DEFAULT,
            System::nanoTime)) {
      index.place(new RankId(7, 0), prompt);
      RankMatches matches = new RankMatches();
      index.match(prompt.sequence(), 2, matches);
      System.out.println("matched " + matches.blocks(new RankId(7, 0)));
    }
  }
}
