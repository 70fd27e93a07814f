package io.kvasir.gateway.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.PromptSource;
import io.kvasir.fleet.router.TextSink;
import io.kvasir.testing.harness.Fuzz;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What bodies cost that are made of elements instead of texts: memory in proportion to their bytes,
 * whatever the elements.
 */
class BodyCostTest {

  /** Bytes that reading a body may allocate for each of its bytes, and in addition. */
  private static final int PER_BYTE = 48;

  private static final long BESIDE = 64 << 10;

  private static final int MAX_REPEATS = 60_000;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final List<String> FIELDS =
      List.of("messages", "prompt", "input", "system", "input_ids", "prompt_token_ids", "x");

  /** The smallest elements of each kind, and such that are decoded in another way. */
  private static final List<String> UNITS =
      List.of(
          "\"\"",
          "{}",
          "[]",
          "0",
          "-1",
          "1e9",
          "null",
          "true",
          "[[]]",
          "[0]",
          "[0,1,2,3,4,5,6,7,8,9]",
          "\"a\"",
          "\"\\n\"",
          "\"\\u0061\"",
          "\"a\\nb\\nc\\n\"",
          "\"\\ud83d\\ude00é\"",
          "{\"\":0}",
          "{\"role\":\"\"}",
          "{\"r\\u006fle\":\"a\"}",
          "{\"role\":\"a\",\"role\":\"b\",\"role\":\"c\"}",
          "{\"content\":[]}",
          "{\"content\":[\"\",\"a\",\"\"]}",
          "{\"content\":[{},{},{\"text\":\"a\"}]}",
          "{\"content\":[{\"type\":\"text\",\"text\":\"\\\"\"}]}",
          "{\"content\":\"a\",\"tool_calls\":[{\"x\":[1,2,[3]]}]}");

  @BeforeAll
  static void loadClasses() { // which costs memory, too
    for (String field : FIELDS) {
      for (String unit : UNITS) {
        byte[] body = body(field, unit, 3);
        if (refusal(body) == null) {
          readAll(scan(body));
        }
      }
    }
  }

  private static BodyScan scan(byte[] body) {
    try {
      return BodyScan.of(body, 0, body.length);
    } catch (InvalidBodyException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest(name = "{0} of {1}")
  @CsvSource(
      delimiter = ' ',
      value = {
        "prompt \"\"",
        "prompt []",
        "messages {}",
        "messages {\"content\":[\"\",\"\",\"\"]}",
        "messages 0,{},[],\"\"",
        "messages 0",
        "input \"\"",
        "input {}",
        "input null",
        "system {}",
        "input_ids []",
        "prompt_token_ids []"
      })
  void moreElementsThanTheirBoundAreRefusedBeforeTheyCostMemory(String field, String unit) {
    byte[] body = body(field, unit, 5_000_000);
    assertThat(refusal(body)).as("loads classes").isNotNull();
    long before = allocated();
    InvalidBodyException refused = refusal(body);
    long cost = allocated() - before;
    assertThat(refused).isNotNull();
    assertThat(refused.param()).isEqualTo(field);
    assertThat(refused.reason())
        .isEqualTo(field + " must have at most 262144 texts, messages, parts and lists together");
    assertThat(cost).isLessThan(1 << 20);
  }

  private static InvalidBodyException refusal(byte[] body) {
    try {
      BodyScan unused = BodyScan.of(body, 0, body.length);
      return null;
    } catch (InvalidBodyException e) {
      return e;
    }
  }

  @Test
  void moreTokensThanTheirBoundAreRefused() {
    for (String field : new String[] {"prompt", "input", "input_ids"}) {
      byte[] body = body(field, "0", BodyScan.MAX_TOKENS + 1);
      assertThatThrownBy(() -> BodyScan.of(body, 0, body.length))
          .isInstanceOf(InvalidBodyException.class)
          .hasMessage(field + " must have at most 16777216 tokens");
    }
  }

  @Test
  void elementsUpToTheirBoundAreRead() throws InvalidBodyException {
    byte[] texts = body("prompt", "\"\"", BodyScan.MAX_PARTS);
    BodyScan scan = BodyScan.of(texts, 0, texts.length);
    assertThat(((Prompt.Texts) scan.prompt().decode()).texts()).hasSize(BodyScan.MAX_PARTS);
    byte[] tokens = body("prompt", "7", 1 << 20);
    scan = BodyScan.of(tokens, 0, tokens.length);
    assertThat(((Prompt.Tokens) scan.prompt().decode()).sequences().get(0)).hasSize(1 << 20);
  }

  @Test
  void theTextOfALargePromptIsReadWithoutMemory() throws InvalidBodyException {
    String json =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"" + "ä b\\n".repeat(1 << 20) + "\"}]}";
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    BodyScan scan = BodyScan.of(body, 0, body.length);
    Measure text = new Measure();
    long before = allocated();
    scan.prompt().forEachText(text);
    assertThat(allocated() - before).isLessThan(BESIDE);
    assertThat(text.bytes).isEqualTo("user:".length() + (5L << 20));
  }

  @Test
  @Tag("fuzz")
  void memoryIsInProportionToBytesWhateverTheElements() {
    Fuzz.run("BodyCostTest", BodyCostTest::check);
  }

  private static void check(Random random) {
    StringBuilder json = new StringBuilder("{\"model\":\"m\"");
    for (String field : FIELDS) {
      if (random.nextInt(3) == 0) {
        json.append(",\"").append(field).append("\":[");
        appendUnits(json, random);
        json.append(']');
      }
    }
    byte[] body = json.append('}').toString().getBytes(StandardCharsets.UTF_8);
    long before = allocated();
    BodyScan scan;
    try {
      scan = BodyScan.of(body, 0, body.length);
    } catch (InvalidBodyException e) {
      assertThat(allocated() - before).isLessThan(BESIDE);
      return;
    }
    assertThat(allocated() - before).isLessThan(BESIDE);
    readAll(scan);
    long cost = allocated() - before;
    long limit = (long) PER_BYTE * body.length + BESIDE;
    assertThat(cost).as("%d bytes", body.length).isLessThan(limit);
    assertHeld(scan);
  }

  private static void appendUnits(StringBuilder json, Random random) {
    int kinds = 1 + random.nextInt(3);
    String comma = "";
    for (int kind = 0; kind < kinds; kind++) {
      String unit = UNITS.get(random.nextInt(UNITS.size()));
      for (int i = 1 + random.nextInt(MAX_REPEATS / unit.length()); i > 0; i--) {
        json.append(comma).append(unit);
        comma = ",";
      }
    }
  }

  private static void readAll(BodyScan scan) {
    Object prompt = scan.prompt().decode();
    Object tokens = scan.tokens(BodyField.INPUT_IDS);
    boolean other = scan.prompt().hasOtherContent();
    if (prompt != null && scan.prompt().form() != PromptSource.Form.TOKENS) {
      scan.prompt().forEachText(new Measure());
    }
    assertThat(prompt == null && tokens == null && other).isFalse();
  }

  /** What a scan announces is enough for the texts and arrays of a decoded prompt. */
  private static void assertHeld(BodyScan scan) {
    long held = 0;
    Prompt prompt = scan.prompt().decode();
    if (prompt instanceof Prompt.Texts texts) {
      held = texts.texts().stream().mapToLong(text -> 8 + 48 + 2L * text.length()).sum();
    } else if (prompt instanceof Prompt.Tokens tokens) {
      held = tokens.sequences().stream().mapToLong(each -> 8 + 16 + 4L * each.length).sum();
    } else if (prompt instanceof Prompt.Chat chat) {
      held = chat.messages().stream().mapToLong(m -> 8 + 24 + 2L * m.content().length()).sum();
    }
    assertThat(scan.prompt().decodedBytes()).isGreaterThanOrEqualTo(held - 1_000);
  }

  private static byte[] body(String field, String unit, int times) {
    StringBuilder json = new StringBuilder("{\"").append(field).append("\":[").append(unit);
    for (int i = 1; i < times; i++) {
      json.append(',').append(unit);
    }
    return json.append("]}").toString().getBytes(StandardCharsets.US_ASCII);
  }

  private static long allocated() {
    return THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
  }

  /** Counts the bytes of texts. */
  private static final class Measure implements TextSink {
    private long bytes;

    @Override
    public void accept(byte[] utf8, int from, int to) {
      bytes += to - from;
    }

    @Override
    public void next() {}
  }
}
