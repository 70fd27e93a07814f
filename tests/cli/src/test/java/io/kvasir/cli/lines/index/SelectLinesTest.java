package io.kvasir.cli.lines.index;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ranks chosen by JSON lines. Blocks have 2 tokens. */
class SelectLinesTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String OK = "{\"ok\":true}";
  private static final String CONFIGURE = "{'op':'configure','tokensPerBlock':2}";
  private static final String QUEUE =
      "{'op':'configure','tokensPerBlock':2,'args':{'router_queue_threshold':0}}";
  private static final String RANK = "{'op':'add_rank','worker':7}";
  private static final String RANK_1 = "{'op':'add_rank','worker':7,'dpRank':1}";
  private static final String HELD =
      "{'op':'event','worker':7,'dpRank':1,'eventId':1,'data':"
          + "{'stored':{'blocks':[{'blockHash':1,'tokens':[10,11]}]}}}";

  @Test
  void aWaitingRequestIsSettledWhenThereIsRoom() throws IOException {
    assertThat(
            answers(
                "{'op':'configure','tokensPerBlock':2,'args':{'router_queue_threshold':1}}",
                "{'op':'add_rank','worker':7,'maxNumBatchedTokens':4,'nowMs':0}",
                "{'op':'event','worker':7,'eventId':1,'data':{'stored':{'blocks':[{'blockHash':1,'tokens':[10,11]}]}}}",
                "{'op':'select','id':1,'tokens':[10,11,12,13,14,15,16],'nowMs':10}",
                "{'op':'select','id':2,'tokens':[10,11,12,13,20],'nowMs':20}",
                "{'op':'select','id':3,'tokens':[30],'pinnedWorker':8,'nowMs':30}",
                "{'op':'predict','action':'push','id':1,'tokens':[40],'nowMs':65}",
                "{'op':'predict','action':'free','id':1}",
                "{'op':'predict','action':'free','id':2}",
                "{'op':'poll'}"))
        .containsExactly(
            OK,
            OK,
            OK,
            "{\"worker\":7,\"dpRank\":0,\"attempt\":1,\"matchedBlocks\":1,\"reason\":\"only_candidate\",\"waitedMs\":0}",
            "{\"waiting\":true}",
            "{\"refused\":\"pinned_unknown\",\"message\":\"the worker or rank that the request demands is unknown\"}",
            "{\"ok\":true,\"settled\":[{\"id\":2,\"worker\":7,\"dpRank\":0,\"attempt\":2,\"matchedBlocks\":2,\"reason\":\"only_candidate\",\"waitedMs\":45}]}",
            OK,
            OK,
            "{\"settled\":[]}");
  }

  @Test
  void selectWeighsMatchesAndBooks() throws IOException {
    List<String> answers =
        answers(
            "{'op':'configure','tokensPerBlock':2,'explain':true}",
            RANK,
            HELD,
            "{'op':'select','id':1,'tokens':[10,11,12]}",
            "{'op':'predict','action':'potential','tokens':[]}",
            "{'op':'predict','action':'push','id':1,'tokens':[13]}",
            "{'op':'predict','action':'free','id':1}",
            "{'op':'predict','action':'potential','tokens':[]}");
    JsonNode placed = JSON.readTree(answers.get(3));
    assertThat(placed.get("dpRank").asInt()).isEqualTo(1);
    assertThat(placed.get("matchedBlocks").asInt()).isEqualTo(1);
    assertThat(placed.get("reason").asText()).isEqualTo("cost");
    assertThat(placed.get("costs")).hasSize(2);
    assertThat(placed.get("costs").get(0).get("cost").asDouble()).isEqualTo(3.5);
    assertThat(placed.get("costs").get(1).get("cost").asDouble()).isEqualTo(2.5);
    assertThat(placed.get("costs").get(1).get("terms").get("prefill").asDouble()).isEqualTo(0.5);
    JsonNode busy = JSON.readTree(answers.get(4)).get("ranks").get(1);
    assertThat(busy.get("activeBlocks").asInt()).isEqualTo(2);
    assertThat(busy.get("activePrefillTokens").asInt()).isEqualTo(1);
    JsonNode idle = JSON.readTree(answers.get(7)).get("ranks").get(1);
    assertThat(idle.get("activeBlocks").asInt()).isZero();
  }

  @Test
  void sequenceHashesStandForTokens() throws IOException {
    long named = sequenceHash();
    List<String> answers =
        answers(
            CONFIGURE,
            RANK,
            HELD,
            "{'op':'select','id':1,'sequenceHashes':[" + named + "],'inputTokens':3}",
            "{'op':'predict','action':'push','id':1,'tokens':[5,6,7]}",
            "{'op':'predict','action':'free','id':1}");
    JsonNode placed = JSON.readTree(answers.get(3));
    assertThat(placed.get("dpRank").asInt()).isEqualTo(1);
    assertThat(placed.get("matchedBlocks").asInt()).isEqualTo(1);
    assertThat(answers.subList(4, 6)).containsOnly(OK);
  }

  /** The sequence hash of the block of {@link #HELD}. */
  private static long sequenceHash() {
    return NativeBlockHasher.of(HashFormat.KVASIR, 2)
        .hash(new int[] {10, 11}, CacheScope.NONE)
        .sequence()[0];
  }

  @Test
  void filtersNarrowAndRefusalsAreValues() throws IOException {
    List<String> answers =
        answers(
            CONFIGURE,
            "{'op':'select','id':1,'tokens':[1]}",
            RANK,
            RANK_1,
            "{'op':'add_rank','worker':8}",
            "{'op':'select','id':2,'tokens':[1],'allowedWorkers':[9]}",
            "{'op':'select','id':3,'tokens':[1],'exclude':[{'worker':7}]}",
            "{'op':'select','id':4,'tokens':[1],'exclude':[{'worker':7,'dpRank':0},{'worker':8}]}",
            "{'op':'select','id':5,'tokens':[1],'pinnedWorker':7,'pinnedRank':1}",
            "{'op':'select','id':5,'tokens':[1]}",
            "{'op':'select','id':6,'tokens':[1],'pinnedWorker':7,'exclude':[{'worker':7}]}");
    assertThat(refused(answers.get(1))).isEqualTo("no_endpoint");
    assertThat(refused(answers.get(5))).isEqualTo("no_endpoint");
    assertThat(answers.get(6)).contains("\"worker\":8", "only_candidate");
    assertThat(answers.get(7)).contains("\"worker\":7,\"dpRank\":1", "only_candidate");
    assertThat(answers.get(8)).contains("\"worker\":7,\"dpRank\":1", "explicit");
    assertThat(refused(answers.get(9))).isEqualTo("duplicate_request");
    assertThat(refused(answers.get(10))).isEqualTo("pinned_not_allowed");
  }

  private static String refused(String answer) throws IOException {
    return JSON.readTree(answer).path("refused").asText();
  }

  @Test
  void waitingRequestsSettleInTheNextAnswer() throws IOException {
    List<String> answers =
        answers(
            QUEUE,
            RANK,
            "{'op':'select','id':1,'tokens':[1,2,3],'nowMs':100}",
            "{'op':'select','id':2,'tokens':[1]}",
            "{'op':'select','id':3,'tokens':[1]}",
            "{'op':'select','id':4,'tokens':[1],'strictPriority':1}",
            "{'op':'poll'}",
            "{'op':'predict','action':'free','id':3}",
            "{'op':'predict','action':'prefillDone','id':1,'nowMs':150}",
            "{'op':'remove_worker','worker':7}",
            "{'op':'poll'}");
    assertThat(answers.subList(3, 6)).containsOnly("{\"waiting\":true}");
    assertThat(answers.get(6)).isEqualTo("{\"settled\":[]}");
    assertThat(answers.get(7)).isEqualTo(OK);
    JsonNode settled = JSON.readTree(answers.get(8)).get("settled");
    assertThat(settled).hasSize(1);
    assertThat(settled.get(0).get("id").asInt()).isEqualTo(4);
    assertThat(settled.get(0).get("waitedMs").asInt()).isEqualTo(50);
    assertThat(answers.get(9))
        .isEqualTo(
            "{\"ok\":true,\"settled\":[{\"id\":2,\"refused\":\"no_endpoint\","
                + "\"message\":\"no rank is known that may serve the request\"}]}");
    assertThat(answers.get(10)).isEqualTo("{\"settled\":[]}");
  }

  @Test
  void everyAnswerCarriesOutcomesButErrorsDoNot() throws IOException {
    String full = "{'op':'select','id':1,'tokens':[1,2,3]}";
    String waits = "{'op':'select','id':2,'tokens':[1]}";
    for (String op :
        List.of(
            "{'op':'event','worker':9,'eventId':1,'data':{'cleared':{}}}",
            "{'op':'snapshot','worker':9,'data':[]}",
            RANK_1,
            "{'op':'predict','action':'add','id':5,'worker':9,'tokens':[]}",
            "{'op':'predict','action':'push','id':1,'tokens':[4]}")) {
      List<String> answers = answers(QUEUE, RANK, full, waits, op, "{'op':'poll'}");
      assertThat(JSON.readTree(answers.get(4)).path("settled")).as(op).hasSize(1);
      assertThat(answers.get(5)).as(op).isEqualTo("{\"settled\":[]}");
    }
  }

  @Test
  void thePlacedPromptCountsAsHeldForSelectOnly() throws IOException {
    List<String> answers =
        answers(
            CONFIGURE,
            RANK,
            RANK_1,
            "{'op':'select','id':1,'tokens':[1,2,3,4],'pinnedWorker':7,'pinnedRank':1,'nowMs':0}",
            "{'op':'select','id':2,'tokens':[1,2,3,4],'pinnedWorker':7,'pinnedRank':1}",
            "{'op':'match','tokens':[1,2,3,4]}",
            "{'op':'select','id':3,'tokens':[1,2,3,4],'pinnedWorker':7,'pinnedRank':1,"
                + "'nowMs':2000}");
    assertThat(answers.get(4)).contains("\"matchedBlocks\":2");
    assertThat(answers.get(5)).isEqualTo("{\"matches\":[],\"promptBlocks\":2}");
    assertThat(answers.get(6)).contains("\"matchedBlocks\":0");
  }

  @Test
  void outputBlocksAreSharedByName() throws IOException {
    String configure = "{'op':'configure','tokensPerBlock':2,'trackOutputBlocks':true}";
    List<String> answers =
        answers(
            configure,
            RANK,
            "{'op':'select','id':1,'tokens':[1,2]}",
            "{'op':'predict','action':'push','id':1,'tokens':[3,4,5]}",
            "{'op':'predict','action':'potential','tokens':[1,2,3,4]}",
            configure,
            RANK,
            "{'op':'select','id':1,'tokens':[1,2],'overrides':{'assumeKvReuse':false}}",
            "{'op':'predict','action':'push','id':1,'tokens':[3,4,5]}",
            "{'op':'predict','action':'potential','tokens':[1,2,3,4]}");
    assertThat(answers.get(4)).contains("\"activeBlocks\":3,\"newBlocks\":0");
    assertThat(answers.get(9)).contains("\"activeBlocks\":3,\"newBlocks\":2");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'op':'select','tokens':[1]} | id is missing",
        "{'op':'select','id':1} | one of tokens and sequenceHashes must be given",
        "{'op':'select','id':1,'tokens':[1],'sequenceHashes':[1]} | one of tokens and",
        "{'op':'select','id':1,'tokens':[1],'inputTokens':1} | inputTokens must come with",
        "{'op':'select','id':1,'sequenceHashes':[1]} | inputTokens is missing",
        "{'op':'select','id':1,'sequenceHashes':[1],'inputTokens':1} | inputTokens must be an"
            + " integer from 2 to",
        "{'op':'select','id':1,'tokens':[1],'pinnedRank':1} | pinnedRank must be at least 0 and",
        "{'op':'select','id':1,'tokens':[1],'exclude':[{'rank':1}]} | exclude[0].rank is unknown;",
        "{'op':'select','id':1,'tokens':[1],'exclude':[{}]} | exclude[0].worker is missing",
        "{'op':'select','id':1,'tokens':[1],'allowedWorkers':7} | allowedWorkers must be an array",
        "{'op':'select','id':1,'tokens':[1],'expectedOutputTokens':-1} | expectedOutputTokens must",
        "{'op':'select','id':1,'tokens':[1],'priorityJump':-1} | priorityJump must be finite and",
        "{'op':'select','id':1,'tokens':[1],'overrides':{'heat':1}} | overrides.heat is unknown;",
        "{'op':'select','id':1,'tokens':[1],'overrides':{'temperature':-1}} | temperature must be",
        "{'op':'select','id':1,'tokens':[1],'nowMs':99} | nowMs must be an integer from 100 to",
        "{'op':'select','id':1,'tokens':[1],'user':5} | user is unknown; allowed: allowedWorkers,",
        "{'op':'predict','action':'add','id':9,'worker':7,'tokens':[1],'nowMs':999} | id 9 is in",
        "{'op':'predict','action':'add','id':8,'worker':7,'tokens':[1],'nowMs':999} | id 8 is in",
        "{'op':'predict','action':'push','id':9,'tokens':[],'nowMs':999} | tokens must have at least",
        "{'op':'predict','action':'prefillDone','id':1,'nowMs':999} | id 1 is not in flight",
        "{'op':'add_rank','dpRank':1} | worker is missing",
        "{'op':'add_rank','worker':1,'totalKvBlocks':-1} | totalKvBlocks must be an integer from",
        "{'op':'poll','wait':1} | wait is unknown; allowed: nowMs, op",
        "{'op':'configure','tokensPerBlock':2,'args':[]} | args must be an object, not []",
        "{'op':'configure','tokensPerBlock':2,'args':{'heat':1}} | heat is not known to args;",
        "{'op':'configure','tokensPerBlock':2,'args':{'router_queue_policy':{}}} |"
            + " router_queue_policy must be a text, not {}",
        "{'op':'configure','tokensPerBlock':2,'explain':true,'args':{'explain':true}} | explain"
            + " and args.explain are one setting; set one",
      })
  void invalidLinesChangeNothing(String line, String error) throws IOException {
    List<String> answers =
        answers(
            QUEUE,
            RANK,
            "{'op':'select','id':9,'tokens':[1,2,3],'nowMs':100}",
            "{'op':'select','id':8,'tokens':[1]}",
            line,
            "{'op':'predict','action':'free','id':9,'nowMs':100}",
            "{'op':'predict','action':'potential','tokens':[]}");
    assertThat(JSON.readTree(answers.get(4)).path("error").asText()).startsWith(error);
    assertThat(JSON.readTree(answers.get(5)).get("settled")).hasSize(1);
    JsonNode ranks = JSON.readTree(answers.get(6)).get("ranks");
    assertThat(ranks).hasSize(1);
    assertThat(ranks.get(0).get("activeRequests").asInt()).isEqualTo(1);
  }

  @Test
  void argsReplaceFieldsOfTheSameMeaning() throws IOException {
    List<String> answers =
        answers(
            "{'op':'configure','tokensPerBlock':2,'args':{'router_track_output_blocks':true,"
                + "'explain':true,'max_index_bytes':1048576}}",
            RANK,
            RANK_1,
            "{'op':'select','id':1,'tokens':[1,2]}",
            "{'op':'predict','action':'push','id':1,'tokens':[3]}",
            "{'op':'predict','action':'potential','tokens':[]}");
    assertThat(answers.get(3)).contains("\"costs\":[");
    assertThat(answers.get(5)).contains("\"activeBlocks\":2");
  }

  /** The answers, one for each line. */
  private static List<String> answers(String... lines) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] in =
        (String.join("\n", lines).replace('\'', '"') + "\n").getBytes(StandardCharsets.UTF_8);
    try (IndexLines reader =
        new IndexLines(
            new ByteArrayInputStream(in), out, new LineLimit(LineLimit.DEFAULT_TOKENS))) {
      reader.run();
    }
    List<String> answers = List.of(out.toString(StandardCharsets.UTF_8).split("\n"));
    assertThat(answers).hasSameSizeAs(lines);
    return answers;
  }
}
