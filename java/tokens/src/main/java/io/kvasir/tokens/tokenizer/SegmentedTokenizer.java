package io.kvasir.tokens.tokenizer;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Tokenizes a text in segments that begin with added tokens, and keeps the ids of segments: the
 * next turn of a conversation costs its new messages, and a hash of the others. The ids are those
 * of the text as a whole. Thread-safe.
 *
 * <p>Whether a text may be cut is decided when the tokenizer is opened; if not, {@link
 * #uncutReason} says why, and each text is tokenized as a whole.
 */
public final class SegmentedTokenizer implements ModelTokenizer {

  private final SegmentableTokenizer tokenizer;
  private final SegmentCache cache;

  /** Ids with which segments begin: those of added tokens. */
  private final Set<Integer> starts = ConcurrentHashMap.newKeySet();

  private final LongAdder encodedChars = new LongAdder();
  private final LongAdder cachedChars = new LongAdder();
  private final LongSupplier clock;
  private volatile boolean closed;

  /**
   * Takes over a tokenizer.
   *
   * @param tokenizer closed by {@link #close}
   * @param cacheBytes the memory for segments
   */
  SegmentedTokenizer(SegmentableTokenizer tokenizer, long cacheBytes) {
    this(tokenizer, cacheBytes, System::nanoTime);
  }

  /**
   * Takes over a tokenizer.
   *
   * @param tokenizer closed by {@link #close}
   * @param cacheBytes the memory for segments
   * @param clock the time, in nanoseconds
   */
  SegmentedTokenizer(SegmentableTokenizer tokenizer, long cacheBytes, LongSupplier clock) {
    this.tokenizer = tokenizer;
    this.cache = new SegmentCache(cacheBytes);
    this.clock = clock;
  }

  /**
   * Opens the tokenizer of a folder or a file, as {@link ModelTokenizer#open}.
   *
   * @param path a folder or a file
   * @param cacheBytes the memory for the ids of segments, in bytes; four for each id, and 128 for
   *     each segment
   * @return the tokenizer; the caller closes it
   * @throws TokenizerException as {@link ModelTokenizer#open}
   */
  public static SegmentedTokenizer open(Path path, long cacheBytes) throws TokenizerException {
    return new SegmentedTokenizer(TokenizerFiles.open(path, true), cacheBytes);
  }

  @Override
  public int[] encode(String text, boolean addSpecialTokens) throws TokenizerException {
    return encode(text, addSpecialTokens, clock.getAsLong() + Long.MAX_VALUE);
  }

  /**
   * Tokenizes a text as {@link #encode(String, boolean)} does, unless time runs out: the time is
   * looked at before each segment.
   *
   * @param text as there
   * @param addSpecialTokens as there
   * @param deadlineNanos when to give up, as {@link System#nanoTime} counts
   * @return the token ids; the caller owns the array
   * @throws TokenizerException as there, or if the time is over
   */
  public int[] encode(String text, boolean addSpecialTokens, long deadlineNanos)
      throws TokenizerException {
    if (closed) {
      throw new IllegalStateException("the tokenizer is closed");
    }
    String prepared = tokenizer.prepare(text);
    AddedTokens cuts = tokenizer.cuts();
    if (cuts == null) {
      int[] ids = tokenizer.encodeBounded(prepared, addSpecialTokens, left(deadlineNanos));
      encodedChars.add(prepared.length());
      return ids;
    }
    int[] ids = encodeSegments(prepared, cuts, deadlineNanos);
    return addSpecialTokens ? tokenizer.frame().around(ids) : ids;
  }

  private long left(long deadlineNanos) throws TokenizerException {
    long left = deadlineNanos - clock.getAsLong();
    if (left <= 0) {
      throw new TokenizerException("a text was not tokenized to its end in time");
    }
    return left;
  }

  private int[] encodeSegments(String text, AddedTokens cuts, long deadlineNanos)
      throws TokenizerException {
    int[] ids = new int[64];
    int count = 0;
    int start = 0;
    for (int end : cuts.segmentEnds(text)) {
      int[] segment = encodeSegment(text, start, end, left(deadlineNanos));
      if (start > 0 && segment.length > 0) {
        starts.add(segment[0]);
      }
      if (count + segment.length > ids.length) {
        ids = Arrays.copyOf(ids, Math.max(count + segment.length, 2 * ids.length));
      }
      System.arraycopy(segment, 0, ids, count, segment.length);
      count += segment.length;
      start = end;
    }
    return Arrays.copyOf(ids, count);
  }

  private int[] encodeSegment(String text, int start, int end, long waitNs)
      throws TokenizerException {
    SegmentCache.Key key = SegmentCache.key(text, start, end);
    int[] kept = cache.get(key);
    if (kept != null) {
      cachedChars.add(end - start);
      return kept;
    }
    int[] ids = tokenizer.encodeBounded(text.substring(start, end), false, waitNs);
    cache.put(key, ids);
    encodedChars.add(end - start);
    return ids;
  }

  /**
   * {@return the segment that a token of a text is in, from 0}
   *
   * @param ids the ids of a text
   * @param at an index
   */
  public int segment(int[] ids, int at) {
    int segment = 0;
    for (int i = 1; i <= Math.min(at, ids.length - 1); i++) {
      segment += starts.contains(ids[i]) ? 1 : 0;
    }
    return segment;
  }

  /**
   * {@return how many tokens of a text do not depend on what follows: those up to the beginning of
   * its last segment, with the added token there}
   *
   * @param ids the ids of a text
   * @param count how many of them to look at
   */
  public int settled(int[] ids, int count) {
    for (int i = Math.min(count, ids.length); i > 0; i--) {
      if (starts.contains(ids[i - 1])) {
        return i;
      }
    }
    return 0;
  }

  /** {@return why texts are not cut at added tokens; empty if they are} */
  public String uncutReason() {
    return tokenizer.uncutReason();
  }

  /** {@return the characters (UTF-16 units) that were tokenized so far} */
  public long encodedChars() {
    return encodedChars.sum();
  }

  /** {@return the characters whose ids were kept so far} */
  public long cachedChars() {
    return cachedChars.sum();
  }

  /** {@return the memory of the kept ids, in bytes} */
  public long cacheBytes() {
    return cache.bytes();
  }

  @Override
  public String digest() {
    return tokenizer.digest();
  }

  @Override
  public void close() {
    closed = true;
    tokenizer.close();
  }
}
