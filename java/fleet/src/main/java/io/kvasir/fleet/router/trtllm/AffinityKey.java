package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.hash.Xxh3;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Names the beginning of a chat: the contents of its first two messages, and the first tokens where
 * the client sent tokens with it.
 *
 * <p>TensorRT-LLM takes a keyed BLAKE3 here. Ours is XXH3 with a seed: no key ever leaves the
 * router, so the difference cannot be observed, except by constructed collisions, which would put
 * two chats on one worker.
 */
final class AffinityKey {

  static final int MESSAGES = 2;
  static final int TOKENS = 256;
  private static final int[] NO_IDS = {};
  private static final long SEED = 0x6b76617369724b59L;

  private AffinityKey() {}

  /** The key, or null if the request is not a chat. O(characters of the first messages). */
  static @Nullable Long of(FleetRequest request) {
    if (!(request.prompt() instanceof Prompt.Chat chat)) {
      return null;
    }
    List<byte[]> contents =
        chat.messages().stream()
            .limit(MESSAGES)
            .map(message -> message.content().getBytes(StandardCharsets.UTF_8))
            .toList();
    int[] ids = Objects.requireNonNullElse(request.promptTokenIds(), NO_IDS);
    int tokens = Math.min(ids.length, TOKENS);
    int length = contents.stream().mapToInt(content -> content.length + Integer.BYTES).sum();
    ByteBuffer bytes =
        ByteBuffer.allocate(length + tokens * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    contents.forEach(content -> bytes.putInt(content.length).put(content));
    for (int i = 0; i < tokens; i++) {
      bytes.putInt(ids[i]);
    }
    return Xxh3.hash(bytes.array(), SEED);
  }
}
