package io.kvasir.fleet.wire;

import static io.kvasir.fleet.wire.Packed.batch;
import static io.kvasir.fleet.wire.Packed.event;
import static io.kvasir.fleet.wire.Packed.removed;
import static io.kvasir.fleet.wire.Packed.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WireDecoderTest {

  private static final List<Integer> TOKENS = List.of(1, 2, 3, 4);
  private static final int FIRST_BYTES = 64 << 10;
  private static final int WARM_UP = 100;

  @Test
  void aBadEventIsSkippedAndItsNeighboursAreNot() {
    assertSkipped(SkipCause.UNKNOWN_TAG, event("BlockMoved", "block_hashes", Map.of()));
    assertSkipped(SkipCause.UNKNOWN_TAG, List.of("BlockMoved"));
    assertSkipped(SkipCause.WRONG_TYPE, 7);
    assertSkipped(SkipCause.WRONG_TYPE, List.of());
    assertSkipped(SkipCause.WRONG_TYPE, Map.of("block_hashes", List.of(1)));
    assertSkipped(SkipCause.WRONG_TYPE, List.of(7, List.of(1)));
    assertSkipped(SkipCause.WRONG_TYPE, List.of("BlockRemoved"));
    assertSkipped(SkipCause.WRONG_TYPE, event("BlockRemoved"));
    assertSkipped(SkipCause.WRONG_TYPE, removed(List.of(1.5)));
    assertSkipped(SkipCause.WRONG_TYPE, removed(List.of("")));
    assertSkipped(SkipCause.WRONG_TYPE, removed(List.of(1), "group_idx", 5000));
    assertSkipped(SkipCause.WRONG_TYPE, Arrays.asList("BlockStored", List.of(1), null, TOKENS));
    assertSkipped(SkipCause.WRONG_TYPE, stored(List.of(1), null, List.of(1.5), 1));
    assertSkipped(SkipCause.WRONG_TYPE, stored(List.of(1), null, List.of(List.of()), 1));
    assertSkipped(SkipCause.WRONG_TYPE, stored(List.of(1), null, TOKENS, -1));
    assertSkipped(SkipCause.WRONG_TYPE, stored(List.of(1), List.of(), TOKENS, 4));
    assertSkipped(SkipCause.WRONG_TYPE, stored(List.of(1), null, TOKENS, 4, "medium", 3));
    assertSkipped(SkipCause.WRONG_TYPE, stored(List.of(1), null, TOKENS, 4, "extra_keys", "x"));
    assertSkipped(SkipCause.NESTED, event("AllBlocksCleared", "more", nested(17)));
    assertSkipped(SkipCause.NESTED, event("AllBlocksCleared", "more", nested(100)));
  }

  private static void assertSkipped(SkipCause cause, Object event) {
    assertThat(Transcript.of(batch(removed(List.of(1)), event, List.of("AllBlocksCleared")), false))
        .containsExactly("batch 1.5 rank 0", "removed 1", "skipped " + cause, "cleared");
  }

  private static Object nested(int depth) {
    Object value = 1;
    for (int i = 0; i < depth; i++) {
      value = i % 2 == 0 ? List.of(value, 1) : Map.of("deeper", value);
    }
    return value;
  }

  @Test
  void unknownFieldsAreIgnored() {
    assertThat(
            Transcript.of(
                batch(
                    removed(List.of(1), "future", nested(16)),
                    List.of("BlockRemoved", List.of(2), "GPU", 0, "future", nested(16))),
                false))
        .containsExactly("batch 1.5 rank 0", "removed 1", "removed 2 group=0");
  }

  @Test
  void limitsAreChecked() {
    List<Integer> zeros = Collections.nCopies(WireDecoder.MAX_TOKENS + 1, 0);
    assertSkipped(SkipCause.TOO_LARGE, removed(zeros.subList(0, WireDecoder.MAX_BLOCKS + 1)));
    assertSkipped(SkipCause.TOO_LARGE, stored(List.of(1), null, zeros, 4));
    String text = "x".repeat(WireDecoder.MAX_TEXT_BYTES + 1);
    assertSkipped(SkipCause.TOO_LARGE, removed(List.of(1), "medium", text));
    assertSkipped(SkipCause.TOO_LARGE, stored(List.of(1), null, TOKENS, 4, "cache_salt", text));
    assertSkipped(
        SkipCause.TOO_LARGE,
        stored(List.of(1), null, TOKENS, 4, "extra_keys", List.of(List.of(text))));
    Object[] events = Collections.nCopies(WireDecoder.MAX_EVENTS + 1, 0).toArray();
    assertThat(Transcript.of(batch(events), false)).containsExactly("skipped TOO_LARGE");
    assertThat(Transcript.of(batch(removed(zeros.subList(0, WireDecoder.MAX_BLOCKS))), false))
        .hasSize(2);
  }

  @Test
  void aPayloadThatIsNoBatchIsSkipped() {
    assertThat(Transcript.of(new byte[0], false)).containsExactly("skipped MALFORMED");
    assertThat(Transcript.of(new byte[] {(byte) 0xc1}, false)).containsExactly("skipped MALFORMED");
    assertThat(Transcript.of(Packed.of("text"), false)).containsExactly("skipped WRONG_TYPE");
    assertThat(Transcript.of(Packed.of(List.of(1.5)), false)).containsExactly("skipped WRONG_TYPE");
    assertThat(Transcript.of(Packed.of(List.of(1.5, "events")), false))
        .containsExactly("skipped WRONG_TYPE");
    assertThat(Transcript.of(Packed.of(Map.of("ts", 1.5)), false))
        .containsExactly("skipped WRONG_TYPE");
  }

  @Test
  void countsAboveTheRemainingBytesAreRefusedWithoutMemoryForThem() {
    for (String head :
        List.of("ddffffffff", "dd7fffffff", "dfffffffff", "dbffffffff", "c67ffffff0")) {
      for (String before : List.of("", "9200", "920091", "92009192ac426c6f636b52656d6f766564")) {
        byte[] payload = HexFormat.of().parseHex(before + head + "00");
        assertThat(Transcript.of(payload, false)).endsWith("skipped MALFORMED");
        assertThat(Allocations.of(new WireDecoder(), payload)).isLessThan(FIRST_BYTES);
      }
    }
  }

  @Test
  void deepNestingNeedsNoStack() {
    byte[] payload = new byte[3_000_000];
    Arrays.fill(payload, (byte) 0x91);
    payload[payload.length - 1] = 0;
    assertThat(Transcript.of(payload, false)).containsExactly("skipped WRONG_TYPE");
    payload[0] = (byte) 0x92;
    payload[1] = 0;
    assertThat(Transcript.of(payload, false))
        .containsExactly("batch 0.0 rank -1", "skipped WRONG_TYPE");
    assertThat(Allocations.of(new WireDecoder(), payload)).isLessThan(FIRST_BYTES);
  }

  @Test
  void aDecoderReusesItsMemory() {
    byte[] payload =
        batch(
            stored(List.of(1, 2), null, TOKENS, 2, "lora_name", "sql", "extra_keys", List.of()),
            Arrays.asList("BlockStored", List.of(new byte[32]), "parent", TOKENS, 4, 1, "CPU"),
            removed(List.of(1, 2, BigInteger.ONE.shiftLeft(63)), "medium", "cpu"));
    WireDecoder decoder = new WireDecoder();
    for (int i = 0; i < WARM_UP; i++) {
      Allocations.of(decoder, payload);
    }
    assertThat(Allocations.of(decoder, payload)).isLessThan(100); // the listener
  }

  @Test
  void aRangeOutsideTheArrayIsRefused() {
    WireListener listener = new Transcript(false);
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> new WireDecoder().decode(new byte[3], 1, 4, listener));
  }

  @Test
  void aRangeOfAnArrayIsAPayload() {
    byte[] payload = batch(removed(List.of(5)));
    byte[] larger = new byte[payload.length + 20];
    Arrays.fill(larger, (byte) 0x91);
    System.arraycopy(payload, 0, larger, 10, payload.length);
    Transcript transcript = new Transcript(false);
    new WireDecoder().decode(larger, 10, 10 + payload.length, transcript);
    assertThat(transcript.lines).containsExactly("batch 1.5 rank 0", "removed 5");
  }
}
