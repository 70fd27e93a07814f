package io.kvasir.gateway.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.gateway.openai.RandomJson.Written;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Random changes of random bodies, against the same changes of Jackson's tree. */
class BodySpliceDifferentialTest {

  private static final int BODIES = 5_000;

  @Test
  void changesWhatJacksonChangesAndNothingElse() throws IOException {
    long seed = Long.getLong("kvasir.test.seed", 42);
    int spliced = 0;
    for (int i = 0; i < BODIES; i++) {
      Random random = new Random(seed + i);
      RandomBody bodies = new RandomBody(random);
      List<Written> members = bodies.members();
      String body = bodies.body(members);
      byte[] bytes = (" " + body).getBytes(StandardCharsets.UTF_8);
      BodyScan scan;
      try {
        scan = BodyScan.of(bytes, 1, bytes.length - 1);
      } catch (InvalidBodyException e) {
        continue;
      }
      spliced++;
      check(
          "-Dkvasir.test.seed=" + seed + ", body " + i + ": " + body, random, scan, members, body);
    }
    assertThat(spliced).isGreaterThan(BODIES / 2);
  }

  private static void check(
      String as, Random random, BodyScan scan, List<Written> members, String body)
      throws IOException {
    BodySplice splice = new BodySplice(scan);
    ObjectNode expected = (ObjectNode) BodyOracle.tree(body);
    for (int changes = random.nextInt(6); changes > 0; changes--) {
      BodyField field = RandomBody.FIELDS.get(random.nextInt(RandomBody.FIELDS.size()));
      switch (random.nextInt(4)) {
        case 0 -> {
          splice.set(field, "{\"new\": 1}");
          expected.set(field.key(), BodyOracle.tree("{\"new\": 1}"));
        }
        case 1 -> {
          splice.remove(field);
          expected.remove(field.key());
        }
        case 2 -> {
          splice.removeRouting(false);
          BodyField.ROUTING.forEach(each -> expected.remove(each.key()));
        }
        default -> {
          splice.includeUsage();
          JsonNode original = BodyOracle.tree(body).path("stream_options");
          ObjectNode options = original.isObject() ? (ObjectNode) original : expected.objectNode();
          expected.set("stream_options", options.put("include_usage", true));
        }
      }
    }
    ByteBuf built = splice.build();
    String result = built.toString(StandardCharsets.UTF_8);
    assertThat(built.isDirect()).isFalse();
    assertThat(built.release()).isTrue();
    assertThat(BodyOracle.tree(result)).as(as + " -> " + result).isEqualTo(expected);
    int at = 0;
    for (Written member : members) {
      JsonNode original = BodyOracle.tree("{" + member.text() + "}").get(member.key());
      long same = members.stream().filter(each -> each.key().equals(member.key())).count();
      if (same > 1 || original.equals(expected.get(member.key()))) {
        int found = result.indexOf(member.text(), at);
        assertThat(found).as(as + " -> " + result + " lacks " + member.text()).isNotNegative();
        at = found + member.text().length();
      }
    }
    if (expected.equals(BodyOracle.tree(body))) {
      assertThat(result.length()).as(as).isLessThanOrEqualTo(body.length() + 40);
    }
  }
}
