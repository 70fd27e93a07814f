package io.kvasir.gateway.disagg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrefillAnswerTest {

  private static final int MANY = 200_000;

  private static PrefillAnswer read(String json) throws BadAnswerException {
    return PrefillAnswer.of(json.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void whatOnlyPassesThroughKeepsItsJson() throws BadAnswerException {
    String params = "{\"remote_block_ids\":[[1,2],[3]],\"remote_port\":12345678901234567890}";
    PrefillAnswer answer = read("{\"kv_transfer_params\":" + params + "}");

    assertThat(answer.member("kv_transfer_params")).isEqualTo(params);
    assertThat(answer.read("kv_transfer_params").path("remote_port").toString())
        .isEqualTo("12345678901234567890");
    assertThat(answer.read("kv_transfer_params").path("remote_block_ids").isArray()).isTrue();
  }

  @Test
  void theFirstChoiceIsReadAndFurtherOnesAreSeen() throws BadAnswerException {
    PrefillAnswer answer =
        read(
            """
            {"choices":[{"logprobs":{"content":[1]},"finish_reason":"stop",
            "disaggregated_params":{"first_gen_tokens":[7],"ctx_request_id":9007199254740993}},
            {"finish_reason":"length"},{}]}""");

    assertThat(answer.isEnded()).isTrue();
    assertThat(answer.choices().size()).isEqualTo(2);
    assertThat(answer.choices().path(0).path("disaggregated_params").toString())
        .isEqualTo("{\"first_gen_tokens\":[7],\"ctx_request_id\":9007199254740993}");
  }

  /** A tree of such an answer has 30 bytes for each of its own. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"choices\":[{\"prompt_logprobs\":[%s0]}]}",
        "{\"choices\":[0,%s0]}",
        "{\"choices\":{\"a\":[%s0]}}",
        "{\"kv_transfer_params\":{\"remote_block_ids\":[%s0]}}",
        "{\"kv_transfer_params\":[%s0]}",
        "{\"prompt_logprobs\":[%s0]}"
      })
  void anAnswerOfManyElementsTakesMemoryInProportionToItsBytes(String shape)
      throws BadAnswerException {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    String json = shape.formatted("{},".repeat(MANY));
    byte[] answer = json.getBytes(StandardCharsets.UTF_8);
    assertThat(PrefillAnswer.of(answer).isEmpty()).isFalse(); // loads classes
    long before = threads.getCurrentThreadAllocatedBytes();
    PrefillAnswer.of(answer);
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(4L * answer.length);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"usage\":{\"details\":[%s0]}}",
        "{\"disaggregated_params\":{\"draft_tokens\":[%s0]}}",
        "{\"choices\":[{\"disaggregated_params\":[%s0]}]}"
      })
  void anAnswerOfTooManyFieldsIsNone(String shape) {
    assertThatThrownBy(() -> read(shape.formatted("{},".repeat(MANY))))
        .isInstanceOf(BadAnswerException.class)
        .hasMessage("it has more than 65536 fields");
  }
}
