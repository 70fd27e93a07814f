package io.kvasir.cli.lines.fleet;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.event.BlockEvent;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads changes of the blocks that a rank holds. Immutable. */
public final class BlockEventReader {

  /** The changes: {@code data} of an event has one of these fields. */
  public static final Set<String> CHANGES = Set.of("stored", "removed", "cleared");

  private static final Set<String> STORED = Set.of("parentHash", "rootHash", "blocks");
  private static final Set<String> BLOCK = Set.of("blockHash", "tokens", "tokensHash");
  private static final Set<String> REMOVED = Set.of("blockHashes");

  private final NativeBlockHasher hasher;
  private final boolean named;

  /**
   * Makes a reader.
   *
   * @param hasher hashes the tokens of blocks
   * @param named whether blocks may have nothing but a hash, which then covers the prompt up to
   *     their end
   */
  public BlockEventReader(NativeBlockHasher hasher, boolean named) {
    this.hasher = hasher;
    this.named = named;
  }

  /**
   * The rank that an operation names.
   *
   * @param fields the operation, with {@code worker} and {@code dpRank} (0)
   * @return the rank
   */
  public static RankId rank(Fields fields) {
    return new RankId(fields.word("worker"), fields.integer("dpRank", 0, Integer.MAX_VALUE, 0));
  }

  /**
   * A change.
   *
   * @param path name of the object in errors
   * @param data an object with one of {@link #CHANGES}
   * @return the change
   */
  public BlockEvent change(String path, @Nullable JsonNode data) {
    Fields fields = new Fields(path, data, CHANGES);
    if (fields.size() != 1) {
      throw new InvalidLineException(path + " must have one of stored, removed, cleared");
    }
    if (fields.has("stored")) {
      return stored(path + ".stored", fields.node("stored"));
    }
    if (fields.has("removed")) {
      Fields removed = new Fields(path + ".removed", fields.node("removed"), REMOVED);
      return BlockEvent.Removed.of(removed.words("blockHashes"));
    }
    new Fields(path + ".cleared", fields.node("cleared"), Set.of());
    return new BlockEvent.Cleared();
  }

  /**
   * Blocks that a rank has stored.
   *
   * @param path name of the object in errors
   * @param stored {@code blocks}, and what they follow
   * @return the change
   */
  public BlockEvent.Stored stored(String path, @Nullable JsonNode stored) {
    Fields fields = new Fields(path, stored, STORED);
    JsonNode blocks = fields.requiredArray("blocks");
    long[] handles = new long[blocks.size()];
    long[] localHashes = new long[blocks.size()];
    int onlyNamed = 0;
    for (int i = 0; i < handles.length; i++) {
      Fields block = new Fields(path + ".blocks[" + i + "]", blocks.get(i), BLOCK);
      handles[i] = block.word("blockHash");
      if (named && !block.has("tokensHash") && !block.has("tokens")) {
        onlyNamed++;
      } else {
        localHashes[i] = block.has("tokensHash") ? block.word("tokensHash") : localHash(block);
      }
    }
    boolean after = fields.node("parentHash") != null;
    if (onlyNamed > 0) {
      if (onlyNamed < handles.length) {
        throw new InvalidLineException(
            fields.at("blocks") + " must have tokens or a tokensHash each, or none of them");
      }
      return after
          ? BlockEvent.Stored.namedAfter(null, fields.word("parentHash"), handles)
          : BlockEvent.Stored.named(null, handles);
    }
    if (after) {
      return BlockEvent.Stored.after(fields.word("parentHash"), handles, localHashes);
    }
    long rootHash = fields.has("rootHash") ? fields.word("rootHash") : 0;
    return BlockEvent.Stored.root(rootHash, handles, localHashes);
  }

  private long localHash(Fields block) {
    int[] tokens = block.integers("tokens");
    int wanted = hasher.tokensPerBlock();
    if (tokens == null || tokens.length != wanted) {
      throw new InvalidLineException(
          block.at("tokens") + " must be an array of " + wanted + " integers, the tokensPerBlock");
    }
    return hasher.hash(tokens, CacheScope.NONE).local()[0];
  }
}
