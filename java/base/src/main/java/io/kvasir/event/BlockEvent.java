package io.kvasir.event;

import io.kvasir.hash.BlockNaming;
import org.jspecify.annotations.Nullable;

/**
 * One change of the blocks that a rank holds.
 *
 * <p>Blocks go by handles, which are opaque: any number, valid for one rank, equal or not for equal
 * blocks of different ranks. Sources that have no handles of their own use sequence hashes.
 * Immutable by contract: arrays are not copied and must not be changed. Arrays are compared by
 * identity.
 */
@SuppressWarnings("ArrayRecordComponent") // read once, not compared
public sealed interface BlockEvent {

  /** How a store of handles that the rank already has is understood. */
  enum Repeats {
    /** The same blocks, which are named again. One removal ends them. */
    SAME,
    /** Further copies of them. Each is removed on its own. */
    COPIES,
    /**
     * Further copies, or the same ones: a request's blocks were stored, and the same batch goes on
     * behind the last of them.
     */
    UNCLEAR
  }

  /**
   * Blocks were stored, each behind the one before it. Either local or sequence hashes are given,
   * the other array is null.
   *
   * @param naming how sequence hashes are made, or null if the source does not say
   * @param root whether the first block begins a prompt
   * @param parentHandle the block before the first one; without meaning for a root
   * @param rootHash what the chain of a root's local hashes starts from: {@code 0} for no scope,
   *     else a number that stands for the scope; without meaning for sequence hashes
   * @param handles one per block
   * @param localHashes one per block: the hash of its own tokens; or null
   * @param sequenceHashes one per block: the chained hash of everything up to its end; or null
   * @param repeats what blocks are that the rank holds under these handles already
   */
  @SuppressWarnings("NullAway") // it does not see the annotation of an array that is a component
  record Stored(
      @Nullable BlockNaming naming,
      boolean root,
      long parentHandle,
      long rootHash,
      long[] handles,
      long @Nullable [] localHashes,
      long @Nullable [] sequenceHashes,
      Repeats repeats)
      implements BlockEvent {

    /**
     * Checks the arrays.
     *
     * @throws IllegalArgumentException if both or none of the arrays of hashes are given, or there
     *     is not one hash for each handle
     */
    public Stored {
      if ((localHashes == null) == (sequenceHashes == null)) {
        throw new IllegalArgumentException(
            "one of localHashes and sequenceHashes must be given, not both");
      }
      int hashes = (localHashes == null ? sequenceHashes : localHashes).length;
      if (handles.length != hashes) {
        throw new IllegalArgumentException(
            handles.length
                + " handles need as many "
                + (localHashes == null ? "sequenceHashes" : "localHashes")
                + ", not "
                + hashes);
      }
    }

    /**
     * {@return the same change, with other repeats}
     *
     * @param other what blocks are that the rank holds already
     */
    public Stored with(Repeats other) {
      return new Stored(
          naming, root, parentHandle, rootHash, handles, localHashes, sequenceHashes, other);
    }

    /** {@return the hashes that are given, one per block: local hashes or sequence hashes} */
    public long[] hashes() {
      return localHashes == null ? sequenceHashes : localHashes;
    }

    /**
     * Blocks with local hashes that begin a prompt without a scope.
     *
     * @param handles one per block
     * @param localHashes one per block
     * @return the event
     */
    public static Stored root(long[] handles, long[] localHashes) {
      return root(0, handles, localHashes);
    }

    /**
     * Blocks with local hashes that begin a prompt.
     *
     * @param rootHash stands for the prompt's scope; 0 for none
     * @param handles one per block
     * @param localHashes one per block
     * @return the event
     */
    public static Stored root(long rootHash, long[] handles, long[] localHashes) {
      return root(rootHash, handles, localHashes, Repeats.SAME);
    }

    /**
     * Blocks with local hashes that begin a prompt.
     *
     * @param rootHash stands for the prompt's scope; 0 for none
     * @param handles one per block
     * @param localHashes one per block
     * @param repeats what blocks are that the rank holds already
     * @return the event
     */
    public static Stored root(long rootHash, long[] handles, long[] localHashes, Repeats repeats) {
      return new Stored(null, true, 0, rootHash, handles, localHashes, null, repeats);
    }

    /**
     * Blocks with local hashes behind another block.
     *
     * @param parentHandle that block
     * @param handles one per block
     * @param localHashes one per block
     * @return the event
     */
    public static Stored after(long parentHandle, long[] handles, long[] localHashes) {
      return after(parentHandle, handles, localHashes, Repeats.SAME);
    }

    /**
     * Blocks with local hashes behind another block.
     *
     * @param parentHandle that block
     * @param handles one per block
     * @param localHashes one per block
     * @param repeats what blocks are that the rank holds already
     * @return the event
     */
    public static Stored after(
        long parentHandle, long[] handles, long[] localHashes, Repeats repeats) {
      return new Stored(null, false, parentHandle, 0, handles, localHashes, null, repeats);
    }

    /**
     * Blocks that begin a prompt and whose handles are their sequence hashes.
     *
     * @param naming how the hashes are made, or null
     * @param sequenceHashes one per block
     * @return the event
     */
    public static Stored named(@Nullable BlockNaming naming, long... sequenceHashes) {
      return new Stored(naming, true, 0, 0, sequenceHashes, null, sequenceHashes, Repeats.SAME);
    }

    /**
     * Blocks behind another block, all with their sequence hashes as handles.
     *
     * @param naming how the hashes are made, or null
     * @param parent sequence hash of the block before the first one
     * @param sequenceHashes one per block
     * @return the event
     */
    public static Stored namedAfter(
        @Nullable BlockNaming naming, long parent, long... sequenceHashes) {
      return new Stored(
          naming, false, parent, 0, sequenceHashes, null, sequenceHashes, Repeats.SAME);
    }
  }

  /**
   * Blocks were removed.
   *
   * @param naming how the source makes sequence hashes, or null if it does not say
   * @param handles one per block
   */
  record Removed(@Nullable BlockNaming naming, long... handles) implements BlockEvent {

    /**
     * Blocks were removed by a source that does not say how it makes sequence hashes.
     *
     * @param handles one per block
     * @return the event
     */
    public static Removed of(long... handles) {
      return new Removed(null, handles);
    }
  }

  /**
   * Blocks that the rank holds under one handle are held under another one too, for example because
   * a second tier of its memory has a copy.
   *
   * @param handles the further handles, one per block
   * @param of a handle of the same block each; where the rank does not hold it, the block's part of
   *     the event has no effect
   * @param repeats as for stored blocks
   */
  record Aliased(long[] handles, long[] of, Repeats repeats) implements BlockEvent {

    /**
     * Checks the arrays.
     *
     * @throws IllegalArgumentException if there is not one of the second for each of the first
     */
    public Aliased {
      if (handles.length != of.length) {
        throw new IllegalArgumentException(
            handles.length + " handles need as many of, not " + of.length);
      }
    }
  }

  /**
   * Blocks were stored in a group of a hybrid model's cache that is not the main one, whose stores
   * are {@link Stored}. All groups name a block by the same hash of the engine.
   *
   * @param group the group
   * @param root whether the first block begins a prompt
   * @param parentHash the engine's hash of the block before the first one; without meaning for a
   *     root
   * @param rootHash as for stored blocks
   * @param handles one per block, which name it within this group
   * @param hashes the engine's hash of each block, which is its handle in the main group
   * @param localHashes one per block; or null where blocks between them are left out
   * @param repeats as for stored blocks
   */
  @SuppressWarnings("NullAway") // it does not see the annotation of an array that is a component
  record GroupStored(
      CacheGroup group,
      boolean root,
      long parentHash,
      long rootHash,
      long[] handles,
      long[] hashes,
      long @Nullable [] localHashes,
      Repeats repeats)
      implements BlockEvent {

    /**
     * Checks the arrays.
     *
     * @throws IllegalArgumentException if the arrays have different lengths
     */
    public GroupStored {
      if (hashes.length != handles.length
          || (localHashes != null && localHashes.length != handles.length)) {
        throw new IllegalArgumentException(
            handles.length + " handles need as many hashes and localHashes");
      }
    }

    /**
     * Blocks between which others are left out, or whose tokens are not given.
     *
     * @param group the group
     * @param root whether the engine's event begins a prompt
     * @param handles one per block
     * @param hashes one per block
     * @param repeats as for stored blocks
     * @return the event
     */
    public static GroupStored some(
        CacheGroup group, boolean root, long[] handles, long[] hashes, Repeats repeats) {
      return new GroupStored(group, root, 0, 0, handles, hashes, null, repeats);
    }

    /**
     * {@return the same change, with other repeats}
     *
     * @param other what blocks are that the rank holds already
     */
    public GroupStored with(Repeats other) {
      return new GroupStored(
          group, root, parentHash, rootHash, handles, hashes, localHashes, other);
    }
  }

  /**
   * Blocks were removed from a group that is not the main one.
   *
   * @param group the engine's number of the group
   * @param handles one per block
   */
  record GroupRemoved(int group, long... handles) implements BlockEvent {}

  /** The rank forgot every block. */
  record Cleared() implements BlockEvent {}
}
