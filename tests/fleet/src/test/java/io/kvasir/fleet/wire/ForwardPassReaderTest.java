package io.kvasir.fleet.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.timing.ForwardPass;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ForwardPassReaderTest {

  private final ForwardPassReader reader = new ForwardPassReader();

  /** A payload of vLLM, with the fields that SGLang and Dynamo have too. */
  private static Map<String, Object> payload() {
    Map<String, Object> scheduled = new LinkedHashMap<>();
    scheduled.put("num_prefill_requests", 2);
    scheduled.put("sum_prefill_tokens", 4_000);
    scheduled.put("var_prefill_length", 12.5);
    scheduled.put("sum_prefill_kv_tokens", 70_000);
    scheduled.put("num_decode_requests", 31);
    scheduled.put("sum_decode_kv_tokens", 5_000_000_000L);
    scheduled.put("var_decode_kv_tokens", 0.0);
    Map<String, Object> queued = new LinkedHashMap<>();
    queued.put("num_prefill_requests", 9);
    queued.put("sum_prefill_tokens", 99_999);
    Map<String, Object> payload = new LinkedHashMap<>();
    payload.put("version", 1);
    payload.put("worker_id", "worker-7");
    payload.put("dp_rank", 3);
    payload.put("counter_id", 17);
    payload.put("timing_scope", "execute_model_cuda");
    payload.put("wall_time", 0.0425);
    payload.put("scheduled_requests", scheduled);
    payload.put("queued_requests", queued);
    return payload;
  }

  private static Map<String, Object> with(String key, Object value) {
    Map<String, Object> payload = payload();
    payload.put(key, value);
    return payload;
  }

  private static Map<String, Object> withCount(String key, Object value) {
    return with("scheduled_requests", Map.of(key, value));
  }

  private void assertSkipped(byte[] payload, SkipCause cause) {
    long before = reader.skips().of(cause);
    assertThat(reader.read(payload)).isNull();
    assertThat(reader.skips().of(cause)).isEqualTo(before + 1);
  }

  @Test
  void readsWhatTheScheduledRequestsCompute() {
    assertThat(reader.read(Packed.of(payload())))
        .isEqualTo(new ForwardPass(42_500_000, 2, 4_000, 70_000, 31, 5_000_000_000L));
    assertThat(reader.dpRank()).isEqualTo(3);
  }

  @Test
  void missingFieldsAreZero() {
    assertThat(reader.read(Packed.of(payload()))).isNotNull();
    assertThat(reader.read(Packed.of(Map.of("wall_time", 2))))
        .isEqualTo(new ForwardPass(2_000_000_000, 0, 0, 0, 0, 0));
    assertThat(reader.dpRank()).isZero();
  }

  @Test
  void aSignOfLifeIsNoStep() {
    assertThat(reader.read(Packed.of(Map.of("version", 1, "wall_time", 0.0, "dp_rank", 1))))
        .isSameAs(ForwardPass.IDLE);
    assertThat(reader.dpRank()).isOne();
  }

  static Stream<Arguments> wrong() {
    return Stream.of(
        Arguments.of("another version", with("version", 2)),
        Arguments.of("a time that is a text", with("wall_time", "0.1")),
        Arguments.of("a negative time", with("wall_time", -0.1)),
        Arguments.of("no number", with("wall_time", Double.NaN)),
        Arguments.of("an endless time", with("wall_time", Double.POSITIVE_INFINITY)),
        Arguments.of("a time of two hours", with("wall_time", 7200.0)),
        Arguments.of("a negative rank", with("dp_rank", -1)),
        Arguments.of("scheduled requests in an array", with("scheduled_requests", List.of(1, 2))),
        Arguments.of("a negative count", withCount("sum_prefill_tokens", -1)),
        Arguments.of("a count of 2^63 tokens", withCount("sum_decode_kv_tokens", Long.MIN_VALUE)),
        Arguments.of("more requests than an int", withCount("num_decode_requests", 1L << 31)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("wrong")
  void wrongValuesAreSkipped(String unusedName, Map<String, Object> payload) {
    assertSkipped(Packed.of(payload), SkipCause.WRONG_TYPE);
  }

  @Test
  void anArrayIsSkipped() {
    assertSkipped(Packed.of(List.of(1, "worker-7", 0)), SkipCause.WRONG_TYPE);
  }

  @Test
  void noPrefixAndNoChangedByteMakesItThrow() {
    byte[] whole = Packed.of(payload());
    for (int length = 0; length < whole.length; length++) {
      assertSkipped(Arrays.copyOf(whole, length), SkipCause.MALFORMED);
    }
    assertSkipped(Arrays.copyOf(whole, whole.length + 1), SkipCause.MALFORMED);
    Random random = new Random(1);
    for (int i = 0; i < 20_000; i++) {
      byte[] changed = whole.clone();
      changed[random.nextInt(changed.length)] = (byte) random.nextInt();
      ForwardPass unused = reader.read(changed);
    }
  }

  @Test
  void attendedPairsAreThoseOfEqualPrompts() {
    // two prompts of 100 tokens behind 1,000 each: 100 x 1,000 + 100 x 50 pairs for each
    assertThat(new ForwardPass(1, 2, 200, 2_000, 0, 0).attendedPairs()).isEqualTo(210_000);
    assertThat(ForwardPass.IDLE.attendedPairs()).isZero();
  }
}
