package io.kvasir.gateway.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.kvasir.gateway.openai.SseEvent.Kind;
import io.kvasir.testing.harness.Fuzz;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SseEventsTest {

  private static final String CHUNK =
      "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},"
          + "\"finish_reason\":null}],\"usage\":null}";

  /** An event as it is compared. */
  record Seen(String bytes, Kind kind, int outputTokens, boolean finished, Usage usage) {

    static Seen of(SseEvent event) {
      ByteBuf bytes = event.bytes();
      String text = bytes.toString(StandardCharsets.UTF_8);
      bytes.release();
      return new Seen(text, event.kind(), event.outputTokens(), event.finished(), event.usage());
    }
  }

  /** Splits a stream that arrives in chunks which end at these indexes. */
  static List<Seen> split(byte[] stream, int... ends) throws ProtocolException {
    List<Seen> seen = new ArrayList<>();
    SseEvents events = new SseEvents(event -> seen.add(Seen.of(event)));
    int from = 0;
    for (int end : ends) {
      ByteBuf chunk =
          end % 2 == 0 ? Unpooled.buffer(end - from + 3) : Unpooled.directBuffer(end - from + 3);
      chunk.writeMedium(0).skipBytes(3).writeBytes(stream, from, end - from);
      events.feed(chunk);
      assertThat(chunk.refCnt()).isZero();
      from = end;
    }
    events.end();
    return seen;
  }

  private static List<Seen> split(String stream) throws ProtocolException {
    byte[] bytes = stream.getBytes(StandardCharsets.UTF_8);
    return split(bytes, bytes.length);
  }

  static Seen read(String data) throws ProtocolException {
    List<Seen> seen = split("data: " + data.replace('\'', '"') + "\n\n");
    assertThat(seen).hasSize(1);
    return seen.get(0);
  }

  /** Splits a whole stream, character by character. */
  private static List<String> naive(String stream) {
    List<String> events = new ArrayList<>();
    int start = 0;
    boolean blank = true;
    String lineEnd = "";
    for (int i = 0; i < stream.length(); ) {
      if (stream.charAt(i) != '\n' && stream.charAt(i) != '\r') {
        blank = false;
        i++;
        continue;
      }
      boolean alone = blank && lineEnd.equals("\r");
      String end = stream.startsWith("\r\n", i) && !alone ? "\r\n" : stream.substring(i, i + 1);
      i += end.length();
      boolean firstLine = lineEnd.isEmpty();
      boolean comment = firstLine && stream.charAt(start) == ':' && end.endsWith("\n");
      if (blank || comment) {
        events.add(stream.substring(start, i));
        start = i;
        lineEnd = "";
      } else {
        lineEnd = end;
      }
      blank = true;
    }
    if (start < stream.length()) {
      events.add(stream.substring(start));
    }
    return events;
  }

  @Test
  void allCutsOfShortStreamsGiveTheSameEvents() throws ProtocolException {
    long seed = Long.getLong("kvasir.test.seed", 43);
    Random random = new Random(seed);
    for (int i = 0; i < 300; i++) {
      StringBuilder text = new StringBuilder();
      for (int length = random.nextInt(9); length > 0; length--) {
        text.append(new RandomJson(random).pick(List.of("d", ":", "\n", "\r", "\r\n")));
      }
      byte[] stream = text.toString().getBytes(StandardCharsets.UTF_8);
      List<String> expected = naive(text.toString());
      for (int cuts = 0; cuts < 1 << Math.max(stream.length - 1, 0); cuts++) {
        int[] ends = ends(stream.length, cuts);
        assertThat(split(stream, ends))
            .as("seed %d, %s cut at %s", seed, Arrays.toString(stream), Arrays.toString(ends))
            .extracting(Seen::bytes)
            .isEqualTo(expected);
      }
    }
  }

  private static int[] ends(int length, int cuts) {
    List<Integer> ends = new ArrayList<>();
    for (int i = 1; i < length; i++) {
      if ((cuts >> (i - 1) & 1) == 1) {
        ends.add(i);
      }
    }
    ends.add(length);
    return ends.stream().mapToInt(Integer::intValue).toArray();
  }

  @Test
  void aMarkAtTheBeginningIsNoPartOfTheFirstEvent() throws ProtocolException {
    String event = CHUNK + "\n\n";
    byte[] stream = ("\ufeff" + event + event).getBytes(StandardCharsets.UTF_8);
    for (int cut = 0; cut < stream.length; cut++) {
      assertThat(split(stream, cut, stream.length))
          .as("cut at %d", cut)
          .extracting(Seen::bytes, Seen::outputTokens)
          .containsExactly(tuple(event, 1), tuple(event, 1));
    }
  }

  @Test
  void onlyAWholeMarkAtTheBeginningIsDropped() throws ProtocolException {
    byte[] half = {(byte) 0xef, (byte) 0xbb, 'x', '\n', '\n'};
    for (int cut = 0; cut < half.length; cut++) {
      assertThat(split(half, cut, half.length)).hasSize(1);
    }
    assertThat(split(half, 1)).hasSize(1);
    assertThat(split("\ufeff")).isEmpty();
    assertThat(split("\ufeff: a\n\n")).extracting(Seen::bytes).containsExactly(": a\n", "\n");
    assertThat(split(CHUNK + "\n\n\ufeff" + CHUNK + "\n\n")).hasSize(2);
  }

  @Test
  void aCommentDoesNotWaitForABlankLine() {
    assertThat(naive(": a\n: b\r\n\ndata: 1\n: c\n\n"))
        .containsExactly(": a\n", ": b\r\n", "\n", "data: 1\n: c\n\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ": keep-alive\n\n",
        ":\n",
        "event: ping\ndata: {\"type\": \"ping\"}\n\n",
        "event: ping\ndata: {}\n\n",
        "event: keepalive\ndata: {\"sequence_number\":3}\n\n",
        "data: {\"type\":\"keepalive\",\"sequence_number\":3}\n\n",
        "retry: 3000\n\n",
      })
  void signsOfLifeAreNoData(String stream) throws ProtocolException {
    assertThat(split(stream)).extracting(Seen::kind).containsOnly(Kind.COMMENT);
  }

  @Test
  void meaningDoesNotDependOnTheCuts() throws ProtocolException {
    long seed = Long.getLong("kvasir.test.seed", 44);
    for (int i = 0; i < 2000; i++) {
      Random random = new Random(seed + i);
      byte[] stream = stream(random);
      List<Seen> whole = split(stream, stream.length);
      int[] ends = random.ints(random.nextInt(9), 0, stream.length + 1).sorted().toArray();
      ends = Arrays.copyOf(ends, ends.length + 1);
      ends[ends.length - 1] = stream.length;
      assertThat(split(stream, ends)).as("seed %d, stream %d", seed, i).isEqualTo(whole);
      int[] each = new int[stream.length];
      Arrays.setAll(each, at -> at + 1);
      assertThat(split(stream, each)).as("seed %d, stream %d", seed, i).isEqualTo(whole);
    }
  }

  /** A stream of events; some are damaged. */
  static byte[] stream(Random random) {
    RandomJson json = new RandomJson(random);
    StringBuilder text = new StringBuilder();
    for (int events = random.nextInt(5); events >= 0; events--) {
      String end = json.pick(List.of("\n", "\n", "\r\n", "\r"));
      text.append(
              json.pick(
                  List.of(CHUNK, "data: [DONE]", ": ping", "event: x" + end + "data:{\"type\":1}")))
          .append(random.nextBoolean() ? "" : end + "data: " + json.value(3).replace('\n', ' '))
          .append(end)
          .append(end);
    }
    byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
    return random.nextBoolean() ? bytes : json.damaged(bytes);
  }

  @Test
  @Tag("fuzz")
  void damagedStreamsArePassedOn() {
    Fuzz.run("SseEventsTest", SseEventsTest::passOn);
  }

  private static void passOn(Random random) throws ProtocolException {
    byte[] stream = stream(random);
    ByteArrayOutputStream passed = new ByteArrayOutputStream();
    SseEvents events =
        new SseEvents(
            event -> {
              passed.writeBytes(ByteBufUtil.getBytes(event.bytes()));
              ByteBuf rest = UsageStrip.strip(event);
              if (rest != null) {
                rest.release();
              }
            });
    int cut = random.nextInt(stream.length + 1);
    events.feed(Unpooled.copiedBuffer(stream, 0, cut));
    events.feed(Unpooled.copiedBuffer(stream, cut, stream.length - cut));
    events.end();
    assertThat(passed.toByteArray()).isEqualTo(stream);
    Usage ignored = Usage.of(Unpooled.wrappedBuffer(stream));
  }

  @Test
  void eventsWithinAChunkAreNotCopied() throws ProtocolException {
    ByteBuf chunk = Unpooled.copiedBuffer(CHUNK + "\n\n" + CHUNK + "\n\n", StandardCharsets.UTF_8);
    List<SseEvent> seen = new ArrayList<>();
    new SseEvents(seen::add).feed(chunk);
    assertThat(seen).hasSize(2).allMatch(event -> event.bytes().array() == chunk.array());
    assertThat(chunk.refCnt()).isEqualTo(2);
    seen.forEach(event -> event.bytes().release());
    assertThat(chunk.refCnt()).isZero();
  }

  @Test
  void anEventCanHaveManyLines() throws ProtocolException {
    List<Seen> seen = split("data: {\n" + "data:\n".repeat(1 << 20) + "data: \"text\":\"a\"}\n\n");
    assertThat(seen).extracting(Seen::outputTokens).containsExactly(1);
  }

  @Test
  void eventsAreLimited() throws ProtocolException {
    byte[] full = new byte[SseEvents.MAX_EVENT_BYTES];
    Arrays.fill(full, (byte) 'x');
    List<Seen> seen = new ArrayList<>();
    SseEvents events = new SseEvents(event -> seen.add(Seen.of(event)));
    events.feed(Unpooled.wrappedBuffer(full));
    ByteBuf more = Unpooled.copiedBuffer("x", StandardCharsets.UTF_8);
    assertThatThrownBy(() -> events.feed(more))
        .isInstanceOf(ProtocolException.class)
        .hasMessage("an event of the reply must have at most 16777216 bytes");
    assertThat(more.refCnt()).isZero();
    assertThat(seen).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'choices':[{'delta':{'role':'assistant','content':''},'finish_reason':null}]}|0|false",
        "{'choices':[{'delta':{'content':'a'},'finish_reason':null}]}|1|false",
        "{'choices':[{'delta':{'reasoning_content':'a'}}]}|1|false",
        "{'choices':[{'delta':{'reasoning':'a','content':null}}]}|1|false",
        "{'choices':[{'delta':{'tool_calls':[{'index':0}]}}]}|1|false",
        "{'choices':[{'delta':{'tool_calls':[ ],'content':null}}]}|0|false",
        "{'choices':[{'delta':{'content':'a'},'token_ids':[1,2, 3]}]}|3|false",
        "{'choices':[{'delta':{'content':''},'token_ids':[1]},{'token_ids':[2]}]}|2|false",
        "{'choices':[{'delta':{},'finish_reason':'stop'}]}|0|true",
        "{'choices':[{'text':'a','finish_reason':'length','token_ids':null}]}|1|true",
        "{'choices':[{'text':''}]}|0|false",
        "{'\\u0063hoices':[{'text':'\\n'}]}|1|false",
        "{'text':'a','meta_info':{}}|1|false",
        "{'type':'response.output_text.delta','delta':'a'}|1|false",
        "{'type':'response.output_text.done','text':'all of it'}|0|false",
        "{'type':'response.completed','response':{'status':'completed'}}|0|true",
        "{'type':'content_block_delta','delta':{'type':'text_delta','text':'a'}}|1|false",
        "{'type':'content_block_delta','delta':{'type':'thinking_delta','thinking':'a'}}|1|false",
        "{'type':'content_block_delta','delta':{'partial_json':'a'}}|1|false",
        "{'type':'message_delta','delta':{'stop_reason':'end_turn'}}|0|true",
        "no JSON|0|false",
        "{'choices':[{'delta':{'content':'a'}}|1|false",
      })
  void outputIsCounted(String data, int outputTokens, boolean finished) throws ProtocolException {
    Seen seen = read(data);
    assertThat(seen.kind()).isEqualTo(Kind.DATA);
    assertThat(seen.outputTokens()).isEqualTo(outputTokens);
    assertThat(seen.finished()).isEqualTo(finished);
    assertThat(seen.usage()).isEqualTo(Usage.UNKNOWN);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "data: [DONE]|DONE",
        "data:[DONE]|DONE",
        "event: message_stop\\ndata: {\"type\":\"message_stop\"}|DONE",
        ": ping|COMMENT",
        "id: 7\\nretry: 10|COMMENT",
        "event: ping\\ndata: {\"type\": \"ping\"}|COMMENT",
        "data: {\"error\":{\"message\":\"m\"}}|ERROR",
        "data: {\"error\":null}|DATA",
        "data: {\"object\":\"error\",\"message\":\"m\"}|ERROR",
        "event: error\\ndata: whatever|ERROR",
        "data: {\"type\":\"error\",\"error\":{}}|ERROR",
        "data: {\"type\":\"response.failed\",\"response\":{}}|ERROR",
        "data|DATA",
        "data:  {\"error\":\"m\"}|ERROR",
        "database: x|COMMENT",
        "data: {\"error\":\\ndata: \"both lines\"}|ERROR",
      })
  void kindsAreRecognised(String event, Kind kind) throws ProtocolException {
    for (String end : List.of("\n", "\r\n", "\r")) {
      String stream = event.replace("\\n", end) + end + end;
      assertThat(split(stream)).extracting(Seen::kind).containsOnly(kind);
    }
  }

  @Test
  void theRestIsPassedOnAtTheEnd() throws ProtocolException {
    assertThat(split("data: [DONE]\n"))
        .extracting(Seen::bytes, Seen::kind)
        .containsExactly(org.assertj.core.groups.Tuple.tuple("data: [DONE]\n", Kind.DONE));
    assertThat(split("")).isEmpty();
  }
}
