package io.kvasir.engine.execute;

import io.kvasir.engine.adp.RankWork;
import io.kvasir.model.CacheScope;
import java.util.Arrays;

/**
 * The work of one step of a rank, and the tokens it produces.
 *
 * <p>An entry is either a prefill chunk or one decoding request. It computes the KV of {@link
 * #newTokens} tokens of the request's sequence, after the {@link #contextTokens} that are already
 * in the pool. Both ranges lie in the blocks of its {@link #lease}. An entry that reaches the end
 * of the known sequence produces the next token. Entries are in the order in which their requests
 * started.
 *
 * <p>The {@link StepEngine} may use it only during the call. Not thread-safe.
 */
public final class StepPlan {

  private int size;
  private PlacedRequest[] requests = new PlacedRequest[16];
  private int[] newTokens = new int[16];
  private int[] outputs = new int[16];

  /* Sums over the entries. */
  private long prefillTokens;
  private double attendedPairs;
  private int decodingRequests;
  private long decodeKvTokens;

  StepPlan() {}

  /** {@return the number of entries, at least 1 in a plan passed to an engine} */
  public int size() {
    return size;
  }

  /**
   * Whether an entry is a decoding request rather than a prefill chunk.
   *
   * @param i the entry's index
   * @return true if it decodes
   */
  public boolean decodes(int i) {
    return requests[i].decoding;
  }

  /**
   * The entry's request.
   *
   * @param i the entry's index
   * @return the request's id
   */
  public long requestId(int i) {
    return requests[i].request.id();
  }

  /**
   * LoRA adapter and cache salt of an entry's request.
   *
   * @param i the entry's index
   * @return the scope
   */
  public CacheScope scope(int i) {
    return requests[i].scope();
  }

  /**
   * Tokens whose KV was computed before this step: by earlier steps or for other requests.
   *
   * @param i the entry's index
   * @return at least 0
   */
  public int contextTokens(int i) {
    return requests[i].computed;
  }

  /**
   * Tokens to compute in this step.
   *
   * @param i the entry's index
   * @return at least 1; exactly 1 for a decoding request
   */
  public int newTokens(int i) {
    return newTokens[i];
  }

  /**
   * The request's sequence, prompt and outputs so far.
   *
   * @param i the entry's index
   * @return the array itself, not a copy; it must not be changed; the first {@code contextTokens +
   *     newTokens} elements are valid
   */
  public int[] tokens(int i) {
    return requests[i].tokens();
  }

  /**
   * The lease that holds the request's blocks; the pool has its block table.
   *
   * @param i the entry's index
   * @return the lease
   */
  public int lease(int i) {
    return requests[i].lease;
  }

  /**
   * Whether an entry reaches the end of the known sequence, so that the engine must {@link
   * #produce} the next token.
   *
   * @param i the entry's index
   * @return false for a prefill chunk that is not the last
   */
  public boolean producesToken(int i) {
    PlacedRequest request = requests[i];
    return request.computed + newTokens[i] == request.length;
  }

  /**
   * The index of the output token that an entry would produce.
   *
   * @param i the entry's index
   * @return the index, from 0
   */
  public int outputIndex(int i) {
    return requests[i].outputs();
  }

  /**
   * Sets the token that an entry produces. Called by the engine.
   *
   * @param i the entry's index
   * @param token the token
   */
  public void produce(int i, int token) {
    outputs[i] = token;
  }

  /** {@return the tokens of prefill chunks, at least 0} */
  public long prefillTokens() {
    return prefillTokens;
  }

  /** {@return the token pairs of attention of prefill chunks, as {@link RankWork} counts them} */
  public double attendedPairs() {
    return attendedPairs;
  }

  /** {@return the number of decoding requests, at least 0} */
  public int decodingRequests() {
    return decodingRequests;
  }

  /** {@return the tokens whose KV decoding requests read, those of this step included} */
  public long decodeKvTokens() {
    return decodeKvTokens;
  }

  RankWork work() {
    return new RankWork(
        size - decodingRequests, prefillTokens, attendedPairs, decodingRequests, decodeKvTokens);
  }

  void add(PlacedRequest request, int tokens) {
    if (size == requests.length) {
      requests = Arrays.copyOf(requests, size * 2);
      newTokens = Arrays.copyOf(newTokens, size * 2);
      outputs = Arrays.copyOf(outputs, size * 2);
    }
    requests[size] = request;
    newTokens[size] = tokens;
    count(size++, 1);
  }

  private void count(int i, int sign) {
    int context = requests[i].computed;
    if (requests[i].decoding) {
      decodingRequests += sign;
      decodeKvTokens += sign * (context + 1L);
    } else {
      prefillTokens += (long) sign * newTokens[i];
      attendedPairs += sign * RankWork.attendedPairs(context, newTokens[i]);
    }
  }

  /** Removes the last entry if it belongs to this request, which has not changed since. */
  void dropLast(PlacedRequest request) {
    if (size > 0 && requests[size - 1] == request) {
      count(--size, -1);
    }
  }

  void clear() {
    size = 0;
    prefillTokens = 0;
    attendedPairs = 0;
    decodingRequests = 0;
    decodeKvTokens = 0;
  }

  /** Empties the plan and drops all references to requests. */
  void forget() {
    Arrays.fill(requests, 0, size, null);
    clear();
  }

  PlacedRequest request(int i) {
    return requests[i];
  }

  int output(int i) {
    return outputs[i];
  }
}
