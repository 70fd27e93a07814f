package io.kvasir.gateway.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The tokens that replies and events of a stream report. */
class UsageReaderTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'usage':{'prompt_tokens':7,'completion_tokens':3,'total_tokens':10}}|7|3|-1",
        "{'usage':{'prompt_tokens':7,'prompt_tokens_details':{'cached_tokens':5}}}|7|-1|5",
        "{'usage':{'prompt_tokens':7,'prompt_tokens_details':null}}|7|-1|-1",
        "{'type':'message_start','message':{'usage':{'input_tokens':7,'output_tokens':1,"
            + "'cache_read_input_tokens':5}}}|12|1|5",
        "{'type':'message_delta','usage':{'cache_creation_input_tokens':100,'input_tokens':7,"
            + "'cache_read_input_tokens':5,'output_tokens':3}}|112|3|5",
        "{'usage':{'input_tokens':7,'cache_read_input_tokens':null,'output_tokens':3}}|7|3|-1",
        "{'usage':{'input_tokens':7,'cache_read_input_tokens':0,'output_tokens':3}}|7|3|0",
        "{'usage':{'input_tokens':2147483647,'cache_read_input_tokens':5}}|2147483647|-1|5",
        "{'usage':{'prompt_tokens':7,'cache_read_input_tokens':5}}|7|-1|5",
        "{'usage':{'input_tokens':7,'input_tokens_details':{'cached_tokens':5},"
            + "'cache_read_input_tokens':5}}|7|-1|5",
        "{'type':'message_delta','delta':{},'usage':{'output_tokens':3}}|-1|3|-1",
        "{'type':'response.completed','response':{'usage':{'input_tokens':7,'output_tokens':3,"
            + "'input_tokens_details':{'cached_tokens':5}}}}|7|3|5",
        "{'usage':{'prompt_tokens':99999999999999999999,'completion_tokens':-1}}|-1|-1|-1",
        "{'usage':[]}|-1|-1|-1",
        "{'text':'a','meta_info':{'finish_reason':null,'prompt_tokens':7,'completion_tokens':3,"
            + "'cached_tokens':5}}|7|3|5",
        "{'meta_info':{'prompt_tokens':7,'completion_tokens':3,'cached_tokens':0}}|7|3|0",
        "{'meta_info':null}|-1|-1|-1",
      })
  void usageIsRead(String data, int input, int output, int cached) throws ProtocolException {
    Usage usage = new Usage(input, output, cached);
    assertThat(SseEventsTest.read(data).usage()).isEqualTo(usage);
    String reply = data.replace('\'', '"');
    assertThat(Usage.of(Unpooled.copiedBuffer(reply, StandardCharsets.UTF_8))).isEqualTo(usage);
  }

  @Test
  void damagedRepliesHaveNoUsage() {
    for (String reply : List.of("", "[]", "x", "{\"usage\":{\"prompt_tokens\":1}", "{} {}")) {
      assertThat(Usage.of(Unpooled.copiedBuffer(reply, StandardCharsets.UTF_8)))
          .isEqualTo(Usage.UNKNOWN);
    }
    ByteBuf direct = Unpooled.directBuffer();
    direct.writeBytes("{\"usage\":{\"input_tokens\":1}}".getBytes(StandardCharsets.UTF_8));
    assertThat(Usage.of(direct)).isEqualTo(new Usage(1, -1, -1));
    direct.release();
  }

  @Test
  void usageOfABatchIsTheSum() {
    String one = "{\"meta_info\":{\"prompt_tokens\":7,\"completion_tokens\":3}}";
    String two =
        "{\"meta_info\":{\"prompt_tokens\":9,\"completion_tokens\":1,\"cached_tokens\":8}}";
    String reply = "[" + one + "," + two + "]";
    assertThat(Usage.of(Unpooled.copiedBuffer(reply, StandardCharsets.UTF_8)))
        .isEqualTo(new Usage(16, 4, 8));
  }

  @Test
  void usageOfSeveralAnswersInAStreamIsTheSumOfTheirLatest() {
    UsageSum sum = new UsageSum();
    assertThat(sum.add(0, new Usage(7, 1, -1))).isEqualTo(new Usage(7, 1, -1));
    assertThat(sum.add(1, new Usage(9, 1, 8))).isEqualTo(new Usage(16, 2, 8));
    assertThat(sum.add(0, new Usage(7, 5, 0))).isEqualTo(new Usage(16, 6, 8));
    assertThat(sum.add(1, new Usage(-1, 2, -1))).isEqualTo(new Usage(16, 7, 8));
    assertThat(new UsageSum().add(3, Usage.UNKNOWN)).isEqualTo(Usage.UNKNOWN);
  }

  @Test
  void onlyUsageOfOneAnswerHasAnIndex() throws ProtocolException {
    assertThat(index("{\"meta_info\":{\"prompt_tokens\":7},\"index\":2}")).isEqualTo(2);
    assertThat(index("{\"index\":-1,\"meta_info\":{\"prompt_tokens\":7}}")).isZero();
    assertThat(index("{\"index\":2,\"usage\":{\"output_tokens\":7}}")).isZero();
  }

  private static int index(String data) throws ProtocolException {
    List<Integer> indexes = new ArrayList<>();
    SseEvents events =
        new SseEvents(
            event -> {
              indexes.add(event.index());
              event.bytes().release();
            });
    events.feed(Unpooled.copiedBuffer("data: " + data + "\n\n", StandardCharsets.UTF_8));
    return indexes.get(0);
  }

  @Test
  void laterUsageCompletesEarlier() {
    assertThat(new Usage(7, 1, 5).then(new Usage(-1, 3, -1))).isEqualTo(new Usage(7, 3, 5));
  }

  @Test
  void cachedTokensAreNeverMoreThanThePrompt() {
    Usage complete = new Usage(7, 3, 5);

    assertThat(new Usage(7, 1, 5).then(new Usage(2, 3, -1))).isEqualTo(complete);
    assertThat(new Usage(2, 1, -1).then(new Usage(-1, 3, 5))).isEqualTo(complete);
    assertThat(new Usage(0, 1, -1).then(new Usage(7, 3, 5))).isEqualTo(complete);
  }
}
