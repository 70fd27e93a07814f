package io.kvasir.gateway.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.PromptSource;
import io.kvasir.testing.harness.Fuzz;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Random bodies, valid and damaged, against Jackson. */
class BodyScanDifferentialTest {

  private static final int BODIES = 5_000;

  @Test
  void makesTheSameDecisionsAsJackson() {
    long seed = Long.getLong("kvasir.test.seed", 41);
    int valid = 0;
    for (int i = 0; i < BODIES; i++) {
      valid += check("-Dkvasir.test.seed=" + seed + ", body " + i, new Random(seed + i)) ? 1 : 0;
    }
    assertThat(valid).isBetween(BODIES / 4, 3 * BODIES / 4);
  }

  @Test
  @Tag("fuzz")
  void damagedBodiesAreRefused() {
    Fuzz.run("BodyScanDifferentialTest", random -> check("a random body", random));
  }

  /** Jackson takes a character that is not ASCII for the hex digit of its low byte. */
  private static final Pattern JACKSON_ACCEPTS =
      Pattern.compile("\\\\u[0-9a-fA-F]{0,3}[^\\x00-\\x7F]");

  /** Whether the random body is valid. */
  private static boolean check(String as, Random random) {
    RandomBody bodies = new RandomBody(random);
    byte[] body = bodies.body(bodies.members()).getBytes(StandardCharsets.UTF_8);
    for (int damages = random.nextInt(3); damages > 0 && body.length > 0; damages--) {
      body = new RandomJson(random).damaged(body);
    }
    as += ": " + new String(body, StandardCharsets.UTF_8);
    BodyOracle expected = BodyOracle.of(body);
    byte[] around = new byte[body.length + 20];
    random.nextBytes(around);
    System.arraycopy(body, 0, around, 7, body.length);
    BodyScan scan;
    try {
      scan = BodyScan.of(around, 7, body.length);
    } catch (InvalidBodyException e) {
      if (!JACKSON_ACCEPTS.matcher(as).find()) {
        assertThat(expected).as(as + " " + e.reason()).isNull();
      }
      assertThat(e.reason()).as(as).isNotBlank().hasSizeLessThan(400);
      return false;
    }
    assertThat(expected).as(as).isNotNull();
    assertSame(as, scan, expected);
    return true;
  }

  private static void assertSame(String as, BodyScan scan, BodyOracle expected) {
    assertThat(scan.model()).as(as).isEqualTo(expected.text("/model"));
    assertThat(scan.user()).as(as).isEqualTo(expected.text("/user"));
    assertThat(scan.cacheSalt()).as(as).isEqualTo(expected.text("/cache_salt"));
    assertThat(scan.promptCacheKey()).as(as).isEqualTo(expected.text("/prompt_cache_key"));
    assertThat(scan.previousResponseId()).as(as).isEqualTo(expected.text("/previous_response_id"));
    assertThat(scan.conversationId())
        .as(as)
        .isEqualTo(expected.text("/conversation_params/conversation_id"));
    assertThat(scan.subagentAffinityId())
        .as(as)
        .isEqualTo(expected.text("/conversation_params/subagent_affinity_id"));
    assertThat(scan.threadId()).as(as).isEqualTo(expected.text("/client_metadata/thread_id"));
    assertThat(scan.sessionId()).as(as).isEqualTo(expected.text("/client_metadata/session_id"));
    assertThat(scan.stream()).as(as).isEqualTo(expected.tree.path("stream").booleanValue());
    assertThat(scan.includesUsage())
        .as(as)
        .isEqualTo(expected.tree.at("/stream_options/include_usage").booleanValue());
    assertThat(scan.priority()).as(as).isEqualTo(expected.integer("priority", 0));
    assertThat(scan.n()).as(as).isEqualTo(Math.max(expected.integer("n", 1), 1));
    int limit =
        expected.integer(
            "max_completion_tokens",
            expected.integer("max_tokens", expected.integer("max_output_tokens", 0)));
    assertThat(scan.maxOutputTokens()).as(as).isEqualTo(Math.max(limit, 0));
    Object prompt = expected.prompt();
    if (prompt != null) { // of an `input` that is no prompt, any reading is allowed
      assertThat(BodyOracle.comparable(scan.prompt().decode())).as(as).isEqualTo(prompt);
    }
    assertSameText(as, scan, scan.prompt().decode());
  }

  /** What is known of a prompt without decoding it, against the decoded one. */
  private static void assertSameText(String as, BodyScan scan, Prompt prompt) {
    assertThat(scan.prompt().form()).as(as).isEqualTo(prompt == null ? null : prompt.form());
    if (prompt != null && prompt.form() != PromptSource.Form.TOKENS) {
      assertThat(TextBytes.of(scan.prompt())).as(as).isEqualTo(TextBytes.of(prompt.text()));
    }
  }
}
