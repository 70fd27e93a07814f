package io.kvasir.fleet.load;

import io.kvasir.model.Checks;
import java.util.Arrays;

/**
 * The blocks and the prefill that {@link Bookings} take on their ranks: named blocks in a {@link
 * SequenceTree}, all others as totals of {@link LoadedRanks}. Not thread-safe.
 */
final class BookedBlocks {

  private final int tokensPerBlock;
  private final ActiveSequencesOptions options;
  private final LoadedRanks ranks;
  private final SequenceTree named = new SequenceTree();

  /** Blocks of a prompt that are in use, by the slot of the rank. */
  private int[] liveBlocks = new int[0];

  BookedBlocks(int tokensPerBlock, ActiveSequencesOptions options, LoadedRanks ranks) {
    this.tokensPerBlock = tokensPerBlock;
    this.options = options;
    this.ranks = ranks;
  }

  /** A rank was added to the ranks. O(ranks). */
  void allowRanks() {
    named.allowRanks(ranks.slotLimit());
    liveBlocks = new int[ranks.slotLimit()];
  }

  /** The blocks that have a name. */
  SequenceTree named() {
    return named;
  }

  /**
   * Checks the blocks of a prompt.
   *
   * @throws IllegalArgumentException if the blocks are more than hashes or tokens
   */
  void check(long[] sequenceHashes, int blocks, int inputTokens) {
    Checks.atLeast("inputTokens", inputTokens, 0);
    int most = Math.min(sequenceHashes.length, inputTokens / tokensPerBlock);
    Checks.within("blocks", blocks, 0, most);
  }

  /** The load of every rank, and what a request would add there. O(blocks + ranks). */
  void potential(long[] sequenceHashes, int blocks, int inputTokens, PredictedLoads out) {
    Arrays.fill(liveBlocks, 0);
    if (options.assumeKvReuse()) {
      named.count(sequenceHashes, blocks, liveBlocks);
    }
    ranks.write(out, named, blocksFor(inputTokens), liveBlocks);
  }

  /** Uses the named blocks of a request; returns where they end. O(blocks). */
  SequenceRun begin(SequenceLoad load, int slot) {
    return named.begin(load.sequenceHashes(), sharedBlocks(load), slot);
  }

  /** Adds a request whose named blocks are in use; returns its attempt. */
  long book(Booking booking, SequenceLoad load) {
    int blocks = blocksFor(load.inputTokens());
    booking.inputTokens = load.inputTokens();
    booking.promptBlocks = sharedBlocks(load);
    booking.ownBlocks = blocks - sharedBlocks(load);
    booking.room = (int) ((long) blocks * tokensPerBlock - load.inputTokens());
    booking.prefillTokens = options.trackPrefillTokens() ? load.prefillTokens() : 0;
    booking.expectedTokens = load.expectedOutputTokens();
    ranks.book(booking.rank, booking.ownBlocks, booking.prefillTokens);
    return booking.attempt;
  }

  /**
   * Tokens streamed out, and some full blocks have a name from now on. O(blocks named).
   *
   * @throws IllegalArgumentException if {@code blocks} is negative or more than there are
   */
  void push(Booking booking, int tokens, long[] sequenceHashes, int blocks) {
    if (options.trackOutputBlocks()) {
      grow(booking, tokens, sequenceHashes, blocks);
    } else {
      booking.outputTokens += tokens;
    }
    prefilled(booking);
  }

  private void grow(Booking booking, int tokens, long[] sequenceHashes, int blocks) {
    int begun = tokens <= booking.room ? 0 : blocksFor((long) tokens - booking.room);
    if (blocks != 0) {
      int most = Math.min(booking.ownBlocks + begun - 1, sequenceHashes.length);
      Checks.within("blocks", blocks, 0, most);
    }
    booking.room += begun * tokensPerBlock - tokens;
    int added = begun;
    if (blocks != 0 && options.assumeKvReuse()) {
      booking.end = named.extend(booking.end, sequenceHashes, blocks, booking.rank);
      added -= blocks;
    }
    booking.ownBlocks += added;
    ranks.addOwnBlocks(booking.rank, added);
    booking.outputTokens += tokens;
    if (begun > 0 && booking.expectedTokens > 0) {
      int exclusive = booking.ownBlocks + named.exclusiveBlocks(booking.end, booking.rank);
      ranks.discount(booking.rank, booking.discount(exclusive));
    }
  }

  /** A prompt has been computed. */
  void prefilled(Booking booking) {
    if (booking.prefillTokens != 0) {
      ranks.prefilled(booking.rank, booking.prefillTokens);
      booking.prefillTokens = 0;
    }
  }

  /** Removes what a request takes. O(blocks). */
  void end(Booking booking) {
    named.end(booking.end, booking.rank);
    ranks.release(booking.rank, booking.ownBlocks, booking.prefillTokens);
    ranks.discount(booking.rank, booking.discount(0));
  }

  private int sharedBlocks(SequenceLoad load) {
    return options.assumeKvReuse() ? load.blocks() : 0;
  }

  private int blocksFor(long tokens) {
    return (int) ((tokens + tokensPerBlock - 1) / tokensPerBlock);
  }
}
