package io.kvasir.gateway.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrefillReplyTest {

  private static final String ANSWER =
      """
      {"id":"x","object":"chat.completion","prompt_token_ids":[1,[2]],"prompt_token_ids_b64":"a",
      "disaggregated_params":{"a":{}},"choices":[1,{"disaggregated_params":null,"index":0,
      "message":{"content":"\\u00e9\\n","message":2.5}},[{}]],"usage":{"prompt_tokens":3},"n":null}""";

  private static String copy(String answer, boolean chunk, boolean withoutUsage) {
    ByteBuf to = Unpooled.buffer();
    PrefillReply.copy(answer.getBytes(StandardCharsets.UTF_8), to, chunk, withoutUsage);
    return to.toString(StandardCharsets.UTF_8);
  }

  @Test
  void whatIsMeantForAnotherWorkerIsLeftOut() {
    assertThat(copy(ANSWER, false, false))
        .isEqualTo(
            """
            {"id":"x","object":"chat.completion","choices":[1,{"index":0,"message":\
            {"content":"é\\n","message":2.5}},[{}]],"usage":{"prompt_tokens":3},"n":null}""");
  }

  @Test
  void anEventOfAStreamHasAMessageAsItsDelta() {
    assertThat(copy(ANSWER, true, true))
        .isEqualTo(
            """
            {"id":"x","object":"chat.completion.chunk","choices":[1,{"index":0,"delta":\
            {"content":"é\\n","message":2.5}},[{}]],"n":null}""");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[],", "{},", "0,", "{\"disaggregated_params\":[]},"})
  void anAnswerOfManyElementsTakesMemoryInProportionToItsBytes(String element) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    String json = "{\"choices\":[" + element.repeat(100_000) + "0]}";
    byte[] answer = json.getBytes(StandardCharsets.UTF_8);
    PrefillReply.copy(answer, Unpooled.buffer(answer.length), true, true); // loads classes
    ByteBuf to = Unpooled.buffer(answer.length);
    long before = threads.getCurrentThreadAllocatedBytes();
    PrefillReply.copy(answer, to, true, true);
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(answer.length);
  }
}
