package io.kvasir.fleet.index;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The prefix indexes of a mixed fleet: one for each model and number of tokens a block, made when
 * it is first needed. Blocks of different models or sizes have nothing in common.
 *
 * <p>Thread-safe. Owns its indexes and closes them.
 */
public final class PrefixIndexes implements AutoCloseable {

  /**
   * What one index serves. Immutable.
   *
   * @param model the model's name
   * @param tokensPerBlock tokens in a block, at least 1
   */
  public record Key(String model, int tokensPerBlock) {

    /**
     * Checks the block size.
     *
     * @throws IllegalArgumentException if {@code tokensPerBlock} is less than 1
     */
    public Key {
      if (tokensPerBlock < 1) {
        throw new IllegalArgumentException(
            "tokensPerBlock must be at least 1, not " + tokensPerBlock);
      }
    }
  }

  private final Function<? super Key, ? extends PrefixIndex> maker;
  private final ConcurrentHashMap<Key, PrefixIndex> indexes = new ConcurrentHashMap<>();

  /**
   * No indexes yet.
   *
   * @param maker makes one that is needed
   */
  public PrefixIndexes(Function<? super Key, ? extends PrefixIndex> maker) {
    this.maker = maker;
  }

  /**
   * The index of a model and block size, made if there is none.
   *
   * @param key which
   * @return the index; it must not be closed by the caller
   */
  public PrefixIndex get(Key key) {
    return indexes.computeIfAbsent(key, maker);
  }

  /**
   * The index of a model and block size, if there is one.
   *
   * @param key which
   * @return the index, or nothing
   */
  public Optional<PrefixIndex> find(Key key) {
    return Optional.ofNullable(indexes.get(key));
  }

  /**
   * What there are indexes for.
   *
   * @return a copy, in no order
   */
  public List<Key> keys() {
    return List.copyOf(indexes.keySet());
  }

  /** Closes all indexes and forgets them. */
  @Override
  public void close() {
    indexes
        .values()
        .removeIf(
            index -> {
              index.close();
              return true;
            });
  }
}
