package io.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.embedded.EngineClient.Reply;
import io.kvasir.embedded.publish.EventForm;
import io.kvasir.exchange.EngineFlavor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Faults that are switched on while a stand-in runs, as a reader and a client see them. */
class StandInFaultsTest {

  private final Random random = new Random(13);
  private final TestStandIn standIn =
      TestStandIn.open(TestStandIn.wire(EngineFlavor.VLLM, EventForm.MAP));
  private final EventReader reader = standIn.readers.get(0);

  @AfterEach
  void close() {
    standIn.close();
  }

  private void load() {
    for (int i = 0; i < 20; i++) {
      standIn.run(0, random, "");
    }
  }

  private long last(int rank) {
    return standIn.blocks(rank).path("last_batch").asLong(-1);
  }

  private void makeBatch(int rank) {
    long before = last(rank);
    while (last(rank) == before) {
      standIn.run(rank, random, "");
    }
    standIn.readers.get(rank).receiveTo(last(rank));
  }

  /** Waits until all batches of rank 0 are sent or lost: those of rank 1 come after them. */
  private void settle() {
    makeBatch(1);
  }

  /** Makes one more batch, without faults, and receives up to it. */
  private void endFault(String body) {
    standIn.faults(body);
    makeBatch(0);
  }

  private List<Long> missing() {
    return LongStream.rangeClosed(0, last(0))
        .filter(number -> !reader.payloads.containsKey(number))
        .boxed()
        .toList();
  }

  /** A replay brings the index back to the truth. */
  private void requireRecovered() {
    reader.replay(0);
    assertThat(TestStandIn.rebuilt(reader)).isEqualTo(standIn.truth(0)).isNotEmpty();
  }

  @Test
  void droppedBatchesHaveNumbersAndCanBeReplayed() {
    load();
    standIn.faults("{'drop':0.5}");
    load();
    endFault("{'drop':0}");
    assertThat(missing()).isNotEmpty().hasSizeLessThan((int) last(0));
    requireRecovered();
  }

  @Test
  void aPausedSocketSendsLater() {
    load();
    reader.receiveTo(last(0));
    standIn.faults("{'pause':true,'rank':0}");
    load();
    for (int i = 0; i < 5; i++) {
      settle();
      assertThat(reader.arrives(0)).isFalse();
    }
    assertThat(standIn.client.get("/debug/faults").json().at("/ranks/0/pause").asBoolean())
        .isTrue();
    standIn.faults("{'pause':false}");
    standIn.requireEqual(0);
    assertThat(missing()).isEmpty();
  }

  @Test
  void aPauseEndsByItself() {
    load();
    standIn.faults("{'pause_ms':100}");
    load();
    standIn.requireEqual(0);
    assertThat(standIn.client.get("/debug/faults").json().at("/ranks/0/pause").asBoolean())
        .isFalse();
  }

  @Test
  void aPauseCanLoseBatches() {
    load();
    settle();
    long first = last(0);
    standIn.faults("{'pause':true,'pause_loses':true,'rank':0}");
    load();
    settle();
    long end = last(0);
    endFault("{'pause':false,'pause_loses':false}");
    assertThat(missing()).isEqualTo(LongStream.rangeClosed(first + 1, end).boxed().toList());
    requireRecovered();
  }

  @Test
  void aRestartBeginsAnew() {
    load();
    reader.receiveTo(last(0));
    assertThat(last(0)).isPositive();
    standIn.faults("{'restart':true,'rank':0}");
    assertThat(standIn.truth(0)).isEmpty();
    assertThat(standIn.blocks(0).path("last_batch").isNull()).isTrue();
    assertThat(reader.ask(0, new byte[0])).hasSize(1);
    reader.payloads.clear();
    load();
    assertThat(reader.receive()).isZero();
    standIn.requireEqual(0);
  }

  @Test
  void garbledPayloadsDifferFromTheTruth() {
    load();
    reader.receiveTo(last(0));
    long before = last(0);
    standIn.faults("{'garble':1}");
    long first = last(0) + 1; // a batch may have been on its way
    load();
    long end = last(0);
    reader.receiveTo(end); // what is sent later is right
    endFault("{'garble':0}");
    Map<Long, byte[]> live = new HashMap<>(reader.payloads);
    requireRecovered();
    assertThat(end).isGreaterThan(first);
    live.forEach(
        (number, payload) -> {
          if (number <= before || (number >= first && number <= end)) {
            assertThat(Arrays.equals(payload, reader.payloads.get(number)))
                .as("batch %d", number)
                .isEqualTo(number <= before);
          }
        });
  }

  @Test
  void delayedBatchesArriveInOrder() {
    standIn.faults("{'delay_ms':50}");
    load();
    standIn.requireEqual(0);
    assertThat(missing()).isEmpty();
  }

  @Test
  void eventsCanBePublishedForAnotherRank() {
    standIn.faults("{'wrong_rank':1}");
    load();
    EventReader other = standIn.readers.get(1);
    other.receiveTo(last(0));
    assertThat(other.batches()).allMatch(batch -> batch.rank() == 1);
    assertThat(TestStandIn.rebuilt(other)).isEqualTo(standIn.truth(0)).isNotEmpty();
    assertThat(standIn.truth(1)).isEmpty();
    assertThat(reader.payloads).isEmpty();
  }

  @Test
  void steeringCanBeIgnored() {
    assertThat(rankOf(1)).isEqualTo("1");
    standIn.faults("{'ignore_steering':true}");
    assertThat(List.of(rankOf(0), rankOf(1))).containsOnly("0");
    assertThat(rankOf(99)).isEqualTo("0");
  }

  private String rankOf(int wanted) {
    return standIn
        .post(TestStandIn.TEXT, wanted, "{'prompt':'p','max_tokens':1}")
        .header("x-kvasir-dp-rank");
  }

  @Test
  void chatsCanHaveAnotherTemplateThanTheirTokens() {
    String chat = EngineClient.chat("hello", ",'max_tokens':1");
    int tokens = standIn.client.post("/tokenize", chat).json().path("count").asInt();
    assertThat(promptTokens(chat)).isEqualTo(tokens);
    standIn.faults("{'wrong_template':true}");
    assertThat(promptTokens(chat)).isGreaterThan(tokens);
    assertThat(standIn.client.post("/tokenize", chat).json().path("count").asInt())
        .isEqualTo(tokens);
  }

  private int promptTokens(String chat) {
    return standIn.post(TestStandIn.CHAT, 0, chat).json().at("/usage/prompt_tokens").asInt();
  }

  @Test
  void theBlockSizeCanBeReportedWrongly() {
    assertThat(standIn.client.get("/metrics").text()).contains("block_size=\"4\"");
    standIn.faults("{'block_size':16}");
    assertThat(standIn.client.get("/metrics").text()).contains("block_size=\"16\"");
    load();
    reader.receiveTo(last(0));
    assertThat(reader.batches().get(0).events().get(0).blockSize()).isEqualTo(4);
    assertThat(standIn.client.get("/debug/blocks").json().path("block_size").asInt()).isEqualTo(4);
  }

  @Test
  void theReplyHasAllFaults() {
    JsonNode faults =
        standIn.faults("{'rank':1,'drop':0.25,'garble':0.5,'delay_ms':7,'pause':true}");
    assertThat(faults.path("ranks").get(1).toString())
        .isEqualTo(
            "{\"rank\":1,\"drop\":0.25,\"garble\":0.5,\"delay_ms\":7,\"pause\":true,"
                + "\"pause_loses\":false}");
    assertThat(faults.at("/ranks/0/drop").asDouble()).isZero();
    assertThat(standIn.client.get("/debug/faults").json()).isEqualTo(faults);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'drop':1.5}                  | drop     | drop must be a number from 0.0 to 1.0",
        "{'garble':'yes'}              | garble   | garble must be a number",
        "{'delay_ms':-1}               | delay_ms | delay_ms must be a whole number from 0 to",
        "{'pause':1}                   | pause    | pause must be true or false",
        "{'pause_ms':0}                | pause_ms | pause_ms must be a whole number from 1 to",
        "{'pause':false,'pause_ms':5}  | pause_ms | pause_ms excludes pause false",
        "{'rank':2}                    | rank     | rank must be a whole number from 0 to 1",
        "{'rank':0,'block_size':8}     | block_size | block_size is for the whole engine",
        "{'wrong_rank':2}              | wrong_rank | wrong_rank must be a whole number from 0 to 1",
        "{'restart':'now'}             | restart  | restart must be true or false",
        "{'drops':0.1}                 | drops    | there is no drops",
      })
  void wrongFaultsAreRefused(String body, String field, String message) {
    JsonNode before = standIn.client.get("/debug/faults").json();
    Reply reply = standIn.client.post("/debug/faults", body);
    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.json().at("/error/param").asText()).isEqualTo(field);
    assertThat(reply.json().at("/error/message").asText()).contains(message);
    assertThat(standIn.client.get("/debug/faults").json()).isEqualTo(before);
  }
}
