package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.TrtllmHash;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Conversion of TensorRT-LLM's events; serve-routers.json lists their forms. */
class CacheEventsTest {

  private static final String DIGEST = "00000000000000ff" + "0".repeat(48);

  private static BlockEvent parsed(Object event) {
    List<BlockEvent> events = CacheEvents.parse(List.of(event));
    assertThat(events).hasSize(1);
    return events.get(0);
  }

  private static Map<String, Object> stored(Object parent, Object hash) {
    return Map.of(
        "type", "stored", "parent_hash", parent, "blocks", List.of(Map.of("block_hash", hash)));
  }

  @Test
  void aBlockHashIsHandleAndSequenceHash() {
    assertThat(parsed(stored(3, 5)))
        .usingRecursiveComparison()
        .isEqualTo(BlockEvent.Stored.namedAfter(null, 3, 5));
    assertThat(parsed(Map.of("type", "stored", "blocks", List.of(Map.of("block_hash", 5)))))
        .usingRecursiveComparison()
        .isEqualTo(BlockEvent.Stored.named(null, 5));
    assertThat(parsed(Map.of("type", "removed", "block_hashes", List.of(5, 6))))
        .usingRecursiveComparison()
        .isEqualTo(BlockEvent.Removed.of(5, 6));
  }

  @Test
  void aDigestIsShortenedAndSaysHowBlocksAreNamed() {
    assertThat(parsed(stored(DIGEST, DIGEST)))
        .usingRecursiveComparison()
        .isEqualTo(BlockEvent.Stored.namedAfter(TrtllmHash.V2_SHA256, 255, 255));
  }

  @Test
  void aWrongParentIsNamed() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> parsed(stored("x", 5)))
        .withMessageStartingWith("events[0].parent_hash block hash must be ");
  }
}
