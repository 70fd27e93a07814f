package io.kvasir.fleet.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.CacheScope;
import io.kvasir.testing.harness.Fuzz;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class TrtllmEventJsonTest {

  private static final byte[][] TOKENS =
      Stream.of("null", "{", "]", "\"", "-1", "1e9", "99999999999999999999", "[[[[[[", "\\u0000")
          .map(text -> text.getBytes(UTF_8))
          .toArray(byte[][]::new);

  private static final String EXAMPLE =
      """
      [{"event_id":0,"data":{"type":"created","num_blocks_per_cache_level":[101230,0]},
        "window_size":4096,"attention_dp_rank":0},
       {"event_id":1,"data":{"type":"stored","parent_hash":null,"blocks":[{"type":"stored_block",
        "block_hash":924206229973855,"tokens":[{"type":"unique_token","token_id":1,
        "token_extra_id":0}],"cache_level":0,"priority":35}]},"window_size":4096,
        "attention_dp_rank":1}]
      """;

  private final List<String> lines = new ArrayList<>();

  private boolean read(TrtllmEventJson reader, String json) {
    byte[] bytes = json.getBytes(UTF_8);
    return reader.read(bytes, 0, bytes.length, sink(lines));
  }

  private static TrtllmEventJson.Sink sink(List<String> lines) {
    return new TrtllmEventJson.Sink() {
      private Transcript event;
      private String number;

      @Override
      public WireListener begin(int dpRank, long eventId) {
        event = new Transcript(false);
        number = dpRank + "/" + eventId;
        return event;
      }

      @Override
      public void end() {
        assertThat(event.lines.remove(0)).startsWith("batch NaN rank ");
        lines.add(number + event.lines);
      }
    };
  }

  private static String event(long id, String data) {
    return event(id, data, 4096);
  }

  private static String event(long id, String data, int window) {
    return "{\"event_id\":" + id + ",\"data\":{" + data + "},\"window_size\":" + window + "}";
  }

  private static String stored(String parent, String... blocks) {
    return "\"type\":\"stored\",\"parent_hash\":" + parent + ",\"blocks\":" + List.of(blocks);
  }

  private static String block(Object hash, int firstToken, int tokens, String... more) {
    String ids =
        IntStream.range(firstToken, firstToken + tokens)
            .mapToObj(id -> "{\"type\":\"unique_token\",\"token_id\":" + id + "}")
            .collect(Collectors.joining(",", "[", "]"));
    return "{\"block_hash\":" + hash + ",\"tokens\":" + ids + String.join("", more) + "}";
  }

  private static String removed(String hashes) {
    return "\"type\":\"removed\",\"block_hashes\":" + hashes;
  }

  private void assertEvents(String data, String expected) {
    lines.clear();
    assertThat(read(new TrtllmEventJson(2), "[" + event(3, data) + "]")).isTrue();
    assertThat(lines).containsExactly("-1/3" + expected);
  }

  @Test
  void theExampleIsRead() {
    assertThat(read(new TrtllmEventJson(1), EXAMPLE)).isTrue();
    assertThat(lines).containsExactly("0/0[]", "1/1[stored 3488f88096b5f root size=1 tokens=1]");
  }

  @Test
  void eventsAreRead() {
    assertEvents(
        stored("7", block("18446744073709551615", 1, 2), block(-5, 3, 2)),
        "[stored ffffffffffffffff fffffffffffffffb after 7 size=2 tokens=1,2,3,4]");
    String digest = "\"" + "ab".repeat(24) + "00000000000000ff\"";
    assertEvents(stored(digest, block(digest, 1, 2)), "[stored ff after ff size=2 tokens=1,2]");
    assertEvents(removed("[1," + digest + "]"), "[removed 1 ff]");
    assertEvents(
        "\"type\":\"updated\",\"block_hash\":1,\"cache_level\":{\"type\":\"event_diff\","
            + "\"old_value\":0,\"new_value\":1},\"priority\":null",
        "[]");
    assertEvents(
        stored("null", block(1, 1, 2, ",\"lora_id\":3")) + ",\"cache_salt\":\"tenant\"",
        "[stored 1 root size=2 tokens=1,2 loraId salt=tenant]");
    assertEvents(
        "\"lora_name\":\"sql\"," + stored("null", block(1, 1, 2)),
        "[stored 1 root size=2 tokens=1,2 lora=sql]");
  }

  @Test
  void otherContentIsMarked() {
    assertEvents(
        stored(
            "null",
            block(1, 1, 2, ",\"mm_keys\":[]"),
            block(2, 3, 2, ",\"mm_keys\":[{\"type\":\"mm_key\",\"hash\":\"ab\"}]"),
            "{\"block_hash\":3,\"tokens\":[{\"token_id\":5,\"token_extra_id\":9},{\"token_id\":6}]}"),
        "[stored 1 2 3 root size=2 tokens=1,2,3,4,5,6 marked=1,2]");
  }

  @Test
  void partialBlocksAreLeftOut() {
    assertEvents(
        stored("7", block(1, 1, 2), block(2, 3, 1)), "[stored 1 after 7 size=2 tokens=1,2]");
    assertEvents(stored("7", block(1, 1, 1)), "[stored after 7 size=1 tokens=]");
    assertEvents(
        stored("7", block(1, 1, 4), block(2, 5, 4)),
        "[stored 1 2 after 7 size=4 tokens=1,2,3,4,5,6,7,8]");
    assertEvents(
        stored("7", block(1, 1, 1), block(2, 2, 1)), "[stored 1 2 after 7 size=1 tokens=1,2]");
    assertEvents(
        stored("7", block(1, 1, 2), block(2, 3, 1), block(3, 4, 2)), "[skipped TOKEN_COUNT]");
    assertEvents(
        stored("7", block(1, 1, 2), block(2, 3, 3)),
        "[stored 1 2 after 7 size=2 tokens=1,2,3,4,5]");
  }

  @Test
  void partialBlocksAreLeftOutWithTheirContent() {
    String token =
        "{\"block_hash\":2,\"tokens\":[{\"token_id\":3,\"token_extra_id\":9}],"
            + "\"mm_keys\":[{\"hash\":\"ab\"}]}";
    String marked = block(1, 1, 2, ",\"mm_keys\":[{\"hash\":\"ab\"}]");
    assertEvents(stored("7", block(1, 1, 2), token), "[stored 1 after 7 size=2 tokens=1,2]");
    assertEvents(stored("7", marked, token), "[stored 1 after 7 size=2 tokens=1,2 marked=0]");
    assertEvents(stored("7", token), "[stored after 7 size=1 tokens=]");
    RankEvents rank = new RankEvents(2, null);
    byte[] json = ("[" + event(3, stored("null", block(1, 1, 2), token)) + "]").getBytes(UTF_8);
    new TrtllmEventJson(2).read(json, 0, json.length, translator(rank));
    assertThat(rank.take()).hasSize(1);
  }

  private static TrtllmEventJson.Sink translator(RankEvents rank) {
    return new TrtllmEventJson.Sink() {
      @Override
      public WireListener begin(int dpRank, long eventId) {
        return rank;
      }

      @Override
      public void end() {}
    };
  }

  @Test
  void onlyTheLargestWindowIsFollowed() {
    TrtllmEventJson reader = new TrtllmEventJson(2);
    String first = event(0, "\"type\":\"created\"", 512);
    String small = event(1, removed("[1]"), 512);
    String large = event(2, removed("[2]"), 4096);
    String ignored = event(3, removed("[3]"), 512);
    assertThat(read(reader, "[" + String.join(",", first, small, large, ignored) + "]")).isTrue();
    assertThat(read(reader, "[" + String.join(",", first, small) + "]")).isTrue();
    assertThat(lines)
        .containsExactly(
            "-1/0[]",
            "-1/1[removed 1]",
            "-1/2[cleared, removed 2]",
            "-1/3[]",
            "-1/0[]",
            "-1/1[removed 1]");
  }

  @Test
  void aBadEventIsSkipped() {
    assertEvents("\"type\":\"moved\"", "[skipped UNKNOWN_TAG]");
    assertEvents("\"type\":7", "[skipped WRONG_TYPE]");
    assertEvents("\"type\":\"stored\"", "[skipped WRONG_TYPE]");
    assertEvents(removed("{}"), "[skipped WRONG_TYPE]");
    assertEvents(removed("[18446744073709551616]"), "[skipped WRONG_TYPE]");
    assertEvents(removed("[-9223372036854775809]"), "[skipped WRONG_TYPE]");
    assertEvents(removed("[1.5]"), "[skipped WRONG_TYPE]");
    assertEvents(removed("[\"\"]"), "[skipped WRONG_TYPE]");
    assertEvents(stored("null", "7"), "[skipped WRONG_TYPE]");
    assertEvents(stored("null", "{\"tokens\":[]}"), "[skipped WRONG_TYPE]");
    assertEvents(stored("null", block(1, -1, 1)), "[skipped WRONG_TYPE]");
    assertEvents(stored("[]", block(1, 1, 2)), "[skipped WRONG_TYPE]");
    lines.clear();
    assertThat(
            read(
                new TrtllmEventJson(2),
                "[{\"data\":7,\"attention_dp_rank\":4,\"event_id\":1},{\"event_id\":2},"
                    + event(3, removed("[3]"))
                    + "]"))
        .isTrue();
    assertThat(lines)
        .containsExactly("4/1[skipped WRONG_TYPE]", "-1/2[skipped WRONG_TYPE]", "-1/3[removed 3]");
  }

  @Test
  void aDamagedListIsReported() {
    TrtllmEventJson reader = new TrtllmEventJson(2);
    String good = event(1, removed("[1]"));
    for (String list :
        List.of(
            "[" + good + ",7]",
            "[" + good + ",{\"data\":{}}]",
            "[" + good + ",{\"event_id\":-1}]",
            "[" + good,
            "[" + good + "]x",
            "[" + good + "][]")) {
      lines.clear();
      assertThat(read(reader, list)).as(list).isFalse();
      assertThat(lines).containsExactly("-1/1[removed 1]");
    }
    lines.clear();
    assertThat(read(reader, "")).isFalse();
    assertThat(read(reader, "{}")).isFalse();
    assertThat(read(reader, "[]")).isTrue();
    assertThat(lines).isEmpty();
  }

  @Test
  void translatedBlocksMatchPrompts() {
    RankEvents rank = new RankEvents(2, null);
    HeldBlocks held = new HeldBlocks();
    TrtllmEventJson reader = new TrtllmEventJson(2);
    byte[] json =
        ("["
                + event(0, stored("null", block(11, 1, 2), block(12, 3, 2), block(13, 5, 1)))
                + ","
                + event(1, stored("12", block(14, 5, 2)))
                + "]")
            .getBytes(UTF_8);
    List<List<BlockEvent>> batches = new ArrayList<>();
    reader.read(
        json,
        0,
        json.length,
        new TrtllmEventJson.Sink() {
          @Override
          public WireListener begin(int dpRank, long eventId) {
            return rank;
          }

          @Override
          public void end() {
            batches.add(rank.take());
          }
        });
    batches.forEach(held::apply);
    assertThat(held.match(new int[] {1, 2, 3, 4, 5, 6}, 2, CacheScope.NONE)).isEqualTo(3);
  }

  @Test
  @Tag("fuzz")
  void aMutatedListBreaksNothing() throws Exception {
    byte[] valid =
        ("["
                + event(0, stored("null", block(11, 1, 2), block(12, 3, 2, ",\"mm_keys\":[{}]")))
                + ","
                + event(1, removed("[1,\"00ff\"]"))
                + ","
                + event(2, stored("12", block(15, 1, 2), block(16, 3, 1, ",\"mm_keys\":[{}]")))
                + ","
                + EXAMPLE.substring(1))
            .getBytes(UTF_8);
    Fuzz.run("event list", random -> check(random, valid));
  }

  private static void check(Random random, byte[] valid) {
    byte[] json = Fuzz.mutated(random, valid, TOKENS);
    List<String> first = new ArrayList<>();
    List<String> again = new ArrayList<>();
    boolean whole = new TrtllmEventJson(2).read(json, 0, json.length, sink(first));
    TrtllmEventJson reader = new TrtllmEventJson(2);
    assertThat(reader.read(json, 0, json.length, sink(again))).isEqualTo(whole);
    assertThat(again).isEqualTo(first);
    assertThat(reader.read(valid, 0, valid.length, sink(again))).isTrue();
    assertThat(again).hasSize(first.size() + 5);
    RankEvents rank = new RankEvents(2, null);
    assertThat(new TrtllmEventJson(2).read(json, 0, json.length, translator(rank)))
        .isEqualTo(whole);
  }
}
