package io.kvasir.gateway.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.fleet.record.ServedRequest;
import io.kvasir.fleet.record.ServedRequest.Form;
import io.kvasir.fleet.record.ServedRequestReader;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Which names of blocks a request is written with, and that a reader finds the others. */
class RecordedBlocksTest {

  private static final long SEED = 32;
  private static final JsonFactory JSON = new JsonFactory();

  private final RecordedBlocks recorded = new RecordedBlocks();

  private static ServedRequest request(String model, long[] blocks) {
    return new ServedRequest(
        model,
        "w",
        0,
        null,
        1,
        -1,
        16 * Math.max(1, blocks.length),
        1,
        -1,
        0,
        Form.TOKENS,
        16,
        blocks,
        0);
  }

  private String write(ServedRequest request) throws IOException {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(text)) {
      recorded.event(request).writeTo(json);
    }
    return text.toString();
  }

  private static long[] random(Random random, int count) {
    return random.longs(count).toArray();
  }

  @Test
  void aBeginningIsKnownInStepsOfFourBlocks() {
    long[] first = random(new Random(SEED), 11);
    assertThat(recorded.add(request("m", first))).isZero();
    assertThat(recorded.add(request("m", first))).isEqualTo(8);
    assertThat(recorded.add(request("m", Arrays.copyOf(first, 40)))).isEqualTo(8);
    assertThat(recorded.add(request("m", Arrays.copyOf(first, 7)))).isEqualTo(4);
    assertThat(recorded.add(request("m", Arrays.copyOf(first, 3)))).isZero();
    assertThat(recorded.add(request("other", first))).isZero();
  }

  @Test
  void aReaderFindsTheNamesThatAreNotWritten() throws IOException {
    Random random = new Random(SEED);
    ServedRequestReader reader = new ServedRequestReader();
    List<long[]> prompts = new ArrayList<>(List.of(new long[0]));
    for (int i = 0; i < 3_000; i++) {
      long[] before = prompts.get(random.nextInt(prompts.size()));
      long[] added = random(random, random.nextInt(9));
      int shared = random.nextInt(before.length + 1);
      long[] blocks = Arrays.copyOf(before, shared + added.length);
      System.arraycopy(added, 0, blocks, shared, added.length);
      prompts.add(blocks);
      ServedRequest read = reader.read(write(request("m" + i % 2, blocks)));
      assertThat(read).isNotNull();
      assertThat(read.blocks()).as("request %d of seed %d", i, SEED).isEqualTo(blocks);
    }
  }

  @Test
  void theNamesThatAreKeptHaveABound() {
    Random random = new Random(SEED);
    long[] first = random(random, 64);
    long[] second = random(random, 64);
    recorded.add(request("m", first));
    recorded.add(request("m", second));
    assertThat(recorded.add(request("m", first))).isEqualTo(64);
    recorded.add(request("m", random(random, RecordedBlocks.MAX_BLOCKS * RecordedBlocks.STRIDE)));
    assertThat(recorded.add(request("m", first))).as("forgotten").isZero();
    assertThat(recorded.add(request("m", first))).isEqualTo(64);
    assertThat(recorded.add(request("m", second))).as("forgotten").isZero();
  }
}
