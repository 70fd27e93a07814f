package io.kvasir.gateway.verify;

import io.kvasir.fleet.wire.RankEvents;
import io.kvasir.fleet.wire.StoredListener;
import io.kvasir.fleet.wire.WireDecoder;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** An event of an engine that has stored the beginning of a prompt. */
final class StoredBlocks {

  private final int tokensPerBlock;
  private final byte[] batch;

  private StoredBlocks(int tokensPerBlock, byte[] batch) {
    this.tokensPerBlock = tokensPerBlock;
    this.batch = batch;
  }

  /** The same token in all places. */
  static StoredBlocks of(int tokensPerBlock, int token, int tokens) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(3).packDouble(0).packArrayHeader(1).packArrayHeader(5);
      packer.packString("BlockStored").packArrayHeader(tokens / tokensPerBlock);
      for (int i = 0; i < tokens / tokensPerBlock; i++) {
        packer.packLong(i + 1);
      }
      packer.packNil().packArrayHeader(tokens);
      for (int i = 0; i < tokens; i++) {
        packer.packInt(token);
      }
      packer.packInt(tokensPerBlock).packInt(0);
      return new StoredBlocks(tokensPerBlock, packer.toByteArray());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Passes the event. */
  void passTo(StoredListener listener) {
    new WireDecoder().decode(batch, 0, batch.length, new RankEvents(tokensPerBlock, listener));
  }
}
