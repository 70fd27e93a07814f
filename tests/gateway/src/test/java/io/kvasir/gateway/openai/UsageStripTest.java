package io.kvasir.gateway.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.gateway.openai.RandomJson.Written;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.ProtocolException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UsageStripTest {

  private static String stripped(String stream) throws ProtocolException {
    StringBuilder rest = new StringBuilder();
    List<ByteBuf> chunks = new ArrayList<>();
    SseEvents events =
        new SseEvents(
            event -> {
              ByteBuf bytes = UsageStrip.strip(event);
              if (bytes != null) {
                rest.append(bytes.toString(StandardCharsets.UTF_8));
                bytes.release();
              }
            });
    byte[] bytes = stream.getBytes(StandardCharsets.UTF_8);
    for (int from = 0; from < bytes.length; from += 100) {
      chunks.add(Unpooled.copiedBuffer(bytes, from, Math.min(100, bytes.length - from)));
      events.feed(chunks.get(chunks.size() - 1));
    }
    events.end();
    assertThat(chunks).allMatch(chunk -> chunk.refCnt() == 0);
    return rest.toString();
  }

  @Test
  void aStreamIsAsIfUsageHadNotBeenAskedFor() throws ProtocolException {
    String with =
        """
        data: {"id":"c","choices":[{"delta":{"content":"usage:null"}}],"usage":null}

        data: { "usage" : null , "choices" : [ { "delta" : { "content" : "b" } } ] }

        data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":null,"x":1}

        data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}

        data: [DONE]

        """;
    assertThat(stripped(with))
        .isEqualTo(
            """
            data: {"id":"c","choices":[{"delta":{"content":"usage:null"}}]}

            data: {  "choices" : [ { "delta" : { "content" : "b" } } ] }

            data: {"choices":[{"delta":{},"finish_reason":"stop"}],"x":1}

            data: [DONE]

            """);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "data: {\"choices\":[],\"prompt_filter_results\":[]}\n\n",
        "data: {\"choices\":[{\"usage\":null}],\"usage\":{\"prompt_tokens\":1}}\n\n",
        "data: {\"choices\":[],\"usage\":{}}\n\n",
        "data: {\"choices\":[],\"error\":{\"m\":1},\"usage\":{\"prompt_tokens\":1}}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1}\n\n",
        "data: {\"usage\":null,\n\n",
        "data: {\"x\":1,\ndata: \"usage\":null}\n\n",
        "event: message_delta\ndata: {\"delta\":{},\"usage\":{\"output_tokens\":1}}\n\n",
      })
  void otherEventsAreNotChanged(String event) throws ProtocolException {
    assertThat(stripped(event)).isEqualTo(event);
  }

  @Test
  void onlyUsageIsRemoved() throws IOException {
    long seed = Long.getLong("kvasir.test.seed", 45);
    for (int i = 0; i < 5000; i++) {
      Random random = new Random(seed + i);
      RandomJson json = new RandomJson(random);
      List<Written> members = new ArrayList<>();
      for (String key : List.of("id", "x", "usagex", "é")) {
        if (random.nextBoolean()) {
          members.add(json.member(key, json.value(2)));
        }
      }
      members.add(json.member("usage", "null"));
      Collections.shuffle(members, random);
      // Data is one line, which does not begin with a blank.
      String data = json.object(members).strip().replaceAll("[\r\n]", " ");
      String rest = stripped("id: 1\ndata: " + data + "\n\n").substring("id: 1\ndata: ".length());
      String as = "-Dkvasir.test.seed=" + seed + ", event " + i + ": " + data + " -> " + rest;
      ObjectNode expected = ((ObjectNode) BodyOracle.tree(data)).without("usage");
      assertThat(BodyOracle.tree(rest)).as(as).isEqualTo(expected);
      for (Written member : members) {
        if (!member.key().equals("usage")) {
          assertThat(rest).as(as).contains(member.text().replaceAll("[\r\n]", " "));
        }
      }
    }
  }
}
