package io.kvasir.gateway.verify;

import io.kvasir.hash.BlockHashes;
import org.jspecify.annotations.Nullable;

/**
 * A prompt that was sent to a worker: which rank should store its blocks, and whether one has. Its
 * fields change under the lock of its {@link SentPrompts}.
 */
public final class PromptCheck {

  static final long IN_FLIGHT = Long.MAX_VALUE;

  /** Objects and entries of collections, roughly. */
  private static final int FIXED_BYTES = 256;

  final int pinned;
  final BlockHashes hashes;

  /** Its full blocks, without the last one if no token follows it. */
  final int blocks;

  /** Its tokens, to show how stored ones differ; null if missing blocks prove nothing. */
  final int @Nullable [] tokens;

  /** Stored events of the worker that had been seen before it was sent. */
  final long storedBefore;

  /** Runs when its last block is stored; null for nothing, or if it has run. */
  @Nullable Runnable onStored;

  /** Whether its last block is still to be stored by the rank that should. */
  boolean waiting;

  /** The first other rank that stored its last block; -1 if none did. */
  int storedElsewhere = -1;

  long endedNs = IN_FLIGHT;

  /** Whose prompt it is. */
  final Witness client;

  /** What it keeps in memory, in bytes. */
  final long bytes;

  PromptCheck(
      Witness client,
      int pinned,
      BlockHashes hashes,
      int blocks,
      int @Nullable [] tokens,
      long storedBefore,
      boolean waiting,
      @Nullable Runnable onStored) {
    this.client = client;
    this.pinned = pinned;
    this.hashes = hashes;
    this.blocks = blocks;
    this.tokens = tokens;
    this.storedBefore = storedBefore;
    this.waiting = waiting;
    this.onStored = onStored;
    this.bytes =
        FIXED_BYTES
            + 2L * Long.BYTES * hashes.blocks()
            + (tokens == null ? 0 : (long) Integer.BYTES * tokens.length);
  }

  /** The hash of the last block's own tokens. */
  long lastLocal() {
    return hashes.local()[blocks - 1];
  }

  /** Whether a store of its last block by this rank says something that is not known yet. */
  boolean awaits(int dpRank) {
    return pinned < 0 || pinned == dpRank || storedElsewhere < 0;
  }

  /** Whether the prompt has this block at this place. */
  boolean has(int block, long sequenceHash) {
    return hashes.blocks() > block && hashes.sequence()[block] == sequenceHash;
  }
}
