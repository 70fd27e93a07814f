package io.kvasir.fleet.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Fuzz;
import java.io.IOException;
import java.util.HexFormat;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Random, damaged and hostile payloads, against {@link WireOracle} and a bound of memory. */
@Tag("fuzz")
class WireDecoderFuzzTest {

  private static final byte[][] TOKENS =
      Stream.of(
              "c0",
              "c1",
              "dcffff",
              "ddffffffff",
              "dfffffffff",
              "dbffffffff",
              "c6ffffffff",
              "c9ffffffff01",
              "dd00000003",
              "9191919191919191919191919191919191919191919191",
              "8181818181818181818181818181818181818181818181",
              "cfffffffffffffffff",
              "d38000000000000000",
              "cb7ff8000000000000",
              "ab426c6f636b53746f726564",
              "a474797065")
          .map(hex -> HexFormat.of().parseHex(hex))
          .toArray(byte[][]::new);

  /** Objects and arrays for the first event of a decoder, whatever the payload. */
  private static final int FIRST_BYTES = 64 << 10;

  @Test
  void everyPayloadMeansWhatTheRulesSay() throws Exception {
    Fuzz.run("wire", WireDecoderFuzzTest::check);
  }

  private static void check(Random random) throws IOException {
    byte[] payload = payload(random);
    assertThat(Transcript.of(payload, true))
        .as(() -> HexFormat.of().formatHex(payload))
        .isEqualTo(WireOracle.of(payload));
    assertThat(Allocations.of(new WireDecoder(), payload))
        .isLessThan(FIRST_BYTES + 64L * payload.length);
  }

  private static byte[] payload(Random random) throws IOException {
    byte[] valid = new RandomBatches(random, new int[] {0, 50, 8}[random.nextInt(3)]).next();
    int kind = random.nextInt(10);
    if (kind == 0) {
      random.nextBytes(valid);
    }
    return kind < 5 ? valid : Fuzz.mutated(random, valid, TOKENS);
  }
}
