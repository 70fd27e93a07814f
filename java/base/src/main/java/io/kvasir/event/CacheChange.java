package io.kvasir.event;

/**
 * One change of what an engine's rank holds, as the engine tells it.
 *
 * <p>Blocks go by the engine's own block hashes. These are opaque handles: any number, equal or not
 * for equal blocks of different ranks, and meaningful for one rank alone. Immutable, if nobody
 * writes to the arrays, which are not copied.
 */
@SuppressWarnings("ArrayRecordComponent") // read once, compared by nobody
public sealed interface CacheChange {

  /**
   * Blocks were stored, each behind the one before it.
   *
   * @param root whether the first of them begins a prompt
   * @param parentHandle the block before the first of them; without meaning for a root
   * @param rootHash what the chain of sequence hashes starts from, for a root: {@code 0} for no
   *     scope, else a number that stands for the scope
   * @param handles by block, the engine's hash
   * @param localHashes by block, the hash of its own tokens; as many as handles
   */
  record Stored(boolean root, long parentHandle, long rootHash, long[] handles, long[] localHashes)
      implements CacheChange {

    /**
     * Checks the lengths.
     *
     * @throws IllegalArgumentException if there is not one local hash for each handle
     */
    public Stored {
      if (handles.length != localHashes.length) {
        throw new IllegalArgumentException(
            handles.length + " handles need as many localHashes, not " + localHashes.length);
      }
    }

    /**
     * Blocks that begin a prompt without a scope.
     *
     * @param handles by block, the engine's hash
     * @param localHashes by block, the hash of its tokens
     * @return the change
     */
    public static Stored root(long[] handles, long[] localHashes) {
      return new Stored(true, 0, 0, handles, localHashes);
    }

    /**
     * Blocks behind another one.
     *
     * @param parentHandle the engine's hash of that one
     * @param handles by block, the engine's hash
     * @param localHashes by block, the hash of its tokens
     * @return the change
     */
    public static Stored after(long parentHandle, long[] handles, long[] localHashes) {
      return new Stored(false, parentHandle, 0, handles, localHashes);
    }
  }

  /**
   * Blocks were removed.
   *
   * @param handles the engine's hashes
   */
  record Removed(long[] handles) implements CacheChange {}

  /** The rank forgot every block. */
  record Cleared() implements CacheChange {}
}
