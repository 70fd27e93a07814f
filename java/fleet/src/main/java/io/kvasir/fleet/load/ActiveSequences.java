package io.kvasir.fleet.load;

import io.kvasir.model.Checks;
import io.kvasir.model.RankId;
import java.util.List;
import java.util.Objects;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The predicted load of all ranks of one model, computed from what was placed on them; no engine is
 * polled.
 *
 * <p>A request takes blocks on its rank from {@link #add} to {@link #free}. A full block of its
 * prompt goes by its sequence hash and counts once for all requests of a rank that have it; a
 * partial last block and blocks that stream out are its own. Each booking is an <i>attempt</i> with
 * a number that never comes again, so that a late message about a failed attempt cannot change its
 * retry. Once all attempts have ended all loads are 0.
 *
 * <p>Not thread-safe: the caller guards all calls by one lock, and holds it across {@link
 * #potential} and {@link #add} to read, choose and book in one step. Nothing blocks. A call without
 * a stated cost is O(1); the work on a prompt is O(1) a block for all ranks together. Memory is in
 * proportion to the blocks and requests in flight, and shrinks with them. {@link #potential} and
 * {@link #add} look for stale requests first if the last look was long ago.
 */
public final class ActiveSequences {

  /** No attempt. */
  public static final long NONE = 0;

  /** How often, in the age at which a request is stale, calls look for stale ones. */
  private static final int SWEEPS_PER_AGE = 10;

  private static final long[] NO_HASHES = {};

  private final ActiveSequencesOptions options;
  private final LongSupplier clockNs;
  private final LongConsumer ended;
  private final LoadedRanks ranks = new LoadedRanks();
  private final BookedBlocks blocks;
  private final Bookings bookings = new Bookings();
  private long sweptNs;
  private long unknownFrees;
  private long staleRequests;

  /**
   * Makes a prediction without ranks.
   *
   * @param tokensPerBlock tokens in a full block, at least 1
   * @param options what counts
   * @param clockNs a clock that does not go back, in nanoseconds
   * @throws IllegalArgumentException if {@code tokensPerBlock} is below 1
   */
  public ActiveSequences(int tokensPerBlock, ActiveSequencesOptions options, LongSupplier clockNs) {
    this(tokensPerBlock, options, clockNs, attempt -> {});
  }

  /**
   * Makes a prediction without ranks.
   *
   * @param tokensPerBlock tokens in a full block, at least 1
   * @param options what counts
   * @param clockNs a clock that does not go back, in nanoseconds
   * @param ended receives each attempt that ends, for whatever reason, on the thread whose call
   *     ends it; it must not call this object
   * @throws IllegalArgumentException if {@code tokensPerBlock} is below 1
   */
  public ActiveSequences(
      int tokensPerBlock,
      ActiveSequencesOptions options,
      LongSupplier clockNs,
      LongConsumer ended) {
    Checks.atLeast("tokensPerBlock", tokensPerBlock, 1);
    this.options = Objects.requireNonNull(options, "options");
    this.blocks = new BookedBlocks(tokensPerBlock, options, ranks);
    this.clockNs = Objects.requireNonNull(clockNs, "clockNs");
    this.ended = Objects.requireNonNull(ended, "ended");
    sweptNs = clockNs.getAsLong();
  }

  /**
   * A rank may be chosen from now on. O(ranks).
   *
   * @param rank which
   * @return false if it was known
   */
  public boolean addRank(RankId rank) {
    if (ranks.slot(rank) != LoadedRanks.NONE) {
      return false;
    }
    ranks.add(rank);
    blocks.allowRanks();
    return true;
  }

  /**
   * A rank is gone, and its requests with it. O(requests of all ranks + blocks of its own).
   *
   * @param rank which
   * @return how many requests ended; 0 if it is unknown
   */
  public int removeRank(RankId rank) {
    int slot = ranks.slot(rank);
    if (slot == LoadedRanks.NONE) {
      return 0;
    }
    int ended = endAll(bookings.on(slot));
    ranks.remove(slot);
    return ended;
  }

  /**
   * The load of every rank, and what a request would add there. O(blocks + ranks).
   *
   * @param sequenceHashes the request's full blocks, from its first one
   * @param blocks how many of them count
   * @param inputTokens tokens of its prompt; what the blocks leave over is never shared
   * @param out is filled
   * @throws IllegalArgumentException if the blocks are more than hashes or tokens
   */
  public void potential(long[] sequenceHashes, int blocks, int inputTokens, PredictedLoads out) {
    this.blocks.check(sequenceHashes, blocks, inputTokens);
    sweepIfDue();
    this.blocks.potential(sequenceHashes, blocks, inputTokens, out);
  }

  /**
   * The load of every rank. O(ranks).
   *
   * @param out is filled; nothing is new
   */
  public void loads(PredictedLoads out) {
    potential(NO_HASHES, 0, 0, out);
  }

  /**
   * Books a request. O(blocks).
   *
   * @param requestId the request; any number
   * @param rank where it goes
   * @param load what it brings
   * @return the attempt
   * @throws IllegalArgumentException if the rank is unknown, the request is booked already, or the
   *     blocks are more than the tokens fill; nothing has changed then
   */
  public long add(long requestId, RankId rank, SequenceLoad load) {
    int slot = slotFor(rank, load);
    long nowNs = sweepIfDue();
    if (bookings.attemptOf(requestId) != NONE) {
      throw new IllegalArgumentException("request " + requestId + " is booked already");
    }
    return blocks.book(bookings.open(requestId, slot, blocks.begin(load, slot), nowNs), load);
  }

  /**
   * Books a request that another router has placed. It has no id here, only an attempt. O(blocks).
   *
   * @param rank where it is
   * @param load what it brings
   * @return the attempt
   * @throws IllegalArgumentException if the rank is unknown, or the blocks are more than the tokens
   *     fill; nothing has changed then
   */
  public long addForeign(RankId rank, SequenceLoad load) {
    int slot = slotFor(rank, load);
    long nowNs = sweepIfDue();
    return blocks.book(bookings.openForeign(slot, blocks.begin(load, slot), nowNs), load);
  }

  private int slotFor(RankId rank, SequenceLoad load) {
    blocks.check(load.sequenceHashes(), load.blocks(), load.inputTokens());
    int slot = ranks.slot(rank);
    if (slot == LoadedRanks.NONE) {
      throw new IllegalArgumentException("rank " + rank + " is unknown");
    }
    return slot;
  }

  /**
   * Tokens streamed out. With the first of them the prompt has been computed. A token that begins a
   * block adds one, and what was the partial block before stays as a full one of its own.
   *
   * @param attempt whose
   * @param tokens how many, at least 1
   * @return false if the attempt is not in flight; nothing has changed then
   * @throws IllegalArgumentException if {@code tokens} is below 1
   */
  public boolean push(long attempt, int tokens) {
    return push(attempt, tokens, NO_HASHES, 0);
  }

  /**
   * Tokens streamed out, as in {@link #push(long, int)}, and full blocks that they left behind are
   * known by name: from now on they are shared. O(blocks named).
   *
   * @param attempt whose
   * @param tokens how many, at least 1
   * @param sequenceHashes the blocks that are full and followed by a token, in order, from the
   *     first one that has no name yet
   * @param blocks how many of them count; 0 if their names are unknown
   * @return false if the attempt is not in flight; nothing has changed then
   * @throws IllegalArgumentException if {@code tokens} is below 1, or {@code blocks} negative or
   *     more than there are
   */
  public boolean push(long attempt, int tokens, long[] sequenceHashes, int blocks) {
    Checks.atLeast("tokens", tokens, 1);
    Booking booking = bookings.touch(attempt);
    if (booking == null) {
      return false;
    }
    this.blocks.push(booking, tokens, sequenceHashes, blocks);
    return true;
  }

  /**
   * Resets the age of a request that is still being served. Needed where nothing else shows it,
   * such as for answers that do not stream.
   *
   * @param attempt whose
   * @return false if the attempt is not in flight
   */
  public boolean renew(long attempt) {
    return bookings.touch(attempt) != null;
  }

  /**
   * A request is still being served, and has come so far.
   *
   * @param attempt whose
   * @param outputTokens tokens that have streamed out since its beginning
   * @param prefilled whether its prompt has been computed
   * @return false if the attempt is not in flight
   */
  boolean renew(long attempt, long outputTokens, boolean prefilled) {
    Booking booking = bookings.touch(attempt);
    if (booking == null) {
      return false;
    }
    long more = outputTokens - booking.outputTokens;
    if (more > 0) {
      blocks.push(booking, (int) Math.min(more, LoadStatement.MAX_OUTPUT_TOKENS), NO_HASHES, 0);
    } else if (prefilled) {
      blocks.prefilled(booking);
    }
    return true;
  }

  /** The attempts of this router's own requests, in the order of their numbers. O(n log n). */
  List<Booking> own() {
    return bookings.own();
  }

  /** No attempt has had a higher number so far. */
  long lastAttempt() {
    return bookings.lastAttempt();
  }

  /** Whether an attempt is in flight and was placed by this router. */
  boolean isOwn(long attempt) {
    Booking booking = bookings.get(attempt);
    return booking != null && !booking.foreign;
  }

  /** The message that reports an own attempt in flight to a router that lacks it, or null. */
  @Nullable LoadMessage report(long attempt) {
    Booking booking = bookings.get(attempt);
    return booking == null || booking.foreign
        ? null
        : new LoadMessage(
            booking.requestId,
            attempt,
            ranks.rank(booking.rank),
            "",
            new LoadMessage.Added(booking.load()));
  }

  /**
   * A prompt has been computed.
   *
   * @param attempt whose
   * @return false if the attempt is not in flight
   */
  public boolean prefillDone(long attempt) {
    Booking booking = bookings.touch(attempt);
    if (booking == null) {
      return false;
    }
    blocks.prefilled(booking);
    return true;
  }

  /**
   * An attempt has ended, for whatever reason. O(blocks). May be called again.
   *
   * @param attempt which
   * @return false if it is not in flight; this is counted
   */
  public boolean free(long attempt) {
    Booking booking = bookings.close(attempt);
    if (booking == null) {
      unknownFrees++;
      return false;
    }
    blocks.end(booking);
    ended.accept(attempt);
    return true;
  }

  /**
   * Ends the attempts that have been booked, or have given a sign of life, long ago. A sign of life
   * is dated by the first look after it, so looks decide how late an attempt is found. O(requests +
   * their blocks).
   *
   * @return how many
   */
  public int expireStale() {
    sweptNs = clockNs.getAsLong();
    int stale = endAll(bookings.stale(sweptNs, options.staleAfterNs()));
    staleRequests += stale;
    return stale;
  }

  private long sweepIfDue() {
    long nowNs = clockNs.getAsLong();
    if (nowNs - sweptNs >= options.staleAfterNs() / SWEEPS_PER_AGE) {
      expireStale();
    }
    return nowNs;
  }

  private int endAll(List<Booking> ended) {
    for (Booking booking : ended) {
      free(booking.attempt);
    }
    return ended.size();
  }

  /** Ends stale attempts if the last look for them was long ago. Mostly O(1). */
  public void expireIfDue() {
    long unused = sweepIfDue();
  }

  /**
   * A rank may have room that it had not before, for a reason that is not known here: its capacity
   * has changed, for example. O(1).
   *
   * @param rank which; nothing happens if it is unknown
   */
  public void ease(RankId rank) {
    int slot = ranks.slot(rank);
    if (slot != LoadedRanks.NONE) {
      ranks.ease(slot);
    }
  }

  /**
   * Looks at the eased ranks: those whose prefill tokens or blocks may have become fewer, or that
   * {@link #ease} named. Forgets the ones that do not satisfy a condition. O(eased ranks).
   *
   * @param condition tests the load of a rank now
   * @return the eased ranks that satisfy it, in any order
   */
  public List<RankId> retainEased(RankCondition condition) {
    return ranks.retainEased(condition, blocks.named());
  }

  /**
   * The attempt in flight of a request.
   *
   * @param requestId the request
   * @return its attempt, or {@link #NONE}
   */
  public long attemptOf(long requestId) {
    return bookings.attemptOf(requestId);
  }

  /**
   * Whether an attempt has begun and not ended.
   *
   * @param attempt which
   * @return whether it is in flight
   */
  public boolean inFlight(long attempt) {
    return bookings.inFlight(attempt);
  }

  /** {@return a snapshot of the counts} */
  public ActiveSequencesStats stats() {
    return new ActiveSequencesStats(
        ranks.size(),
        bookings.size(),
        blocks.named().blocks(),
        blocks.named().runs(),
        unknownFrees,
        staleRequests);
  }
}
