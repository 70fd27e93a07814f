package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.StrictLegs.Protocol;
import io.kvasir.gateway.legs.Faults;
import io.kvasir.gateway.legs.Leg;
import io.kvasir.gateway.legs.LegServer;
import io.kvasir.gateway.legs.Mooncake;
import io.kvasir.gateway.legs.Trtllm;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests of two legs, with servers that refuse every field that their protocol does not have. */
class StrictLegsTest {

  private static final ObjectMapper JSON =
      new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
  private static final String ANSWER = "one two three four five";
  private static final String TOOLS =
      "'tools':[{'type':'function','function':{'name':'f','parameters':{'type':'object'}}}],";
  private static final List<String> CHATS =
      List.of(
          "",
          "'n':1,'seed':9007199254740993,'temperature':0.10,",
          "'max_tokens':3,'stop':['END','\\n'],",
          "'max_tokens':1,",
          TOOLS + "'tool_choice':'auto','max_tokens':8,",
          "'max_completion_tokens':4,'min_tokens':2,");
  private static final List<String> COMPLETIONS =
      List.of(
          "", "'n':1,'seed':-9223372036854775807,", "'max_tokens':3,'stop':'END',", CHATS.get(3));
  private static final Set<String> LIMITS =
      Set.of("stream", "stream_options", "max_tokens", "max_completion_tokens", "min_tokens");
  private static final Set<String> OF_PROTOCOLS =
      Set.of(
          "kv_transfer_params",
          "bootstrap_host",
          "bootstrap_port",
          "bootstrap_room",
          "routed_dp_rank",
          "disagg_prefill_dp_rank",
          "disaggregated_params",
          "prompt_token_ids");

  private static final long LONG_LEASE_MS = 60_000;
  private static final long SHORT_LEASE_MS = 1_000;

  /** A request: a chat or a completion, streamed or not. */
  private record Ask(boolean chat, boolean stream, boolean usage, String fields, String prompt) {

    String body() {
      String streamed = stream ? "'stream':true," : "";
      String options = stream && usage ? "'stream_options':{'include_usage':true}," : "";
      String text =
          chat ? "'messages':[{'role':'user','content':" + prompt + "}]" : "'prompt':" + prompt;
      return ("{'model':'m'," + fields + streamed + options + text + "}").replace('\'', '"');
    }

    String path() {
      return chat ? "/v1/chat/completions" : "/v1/completions";
    }
  }

  private static List<Ask> asks() {
    String longPrompt = "'" + "Zwölf Boxkämpfer jagen Viktor. ".repeat(1_000) + "'";
    List<Ask> asks = new ArrayList<>();
    for (boolean stream : new boolean[] {false, true}) {
      boolean usage = false;
      for (String fields : CHATS) {
        usage = !usage;
        asks.add(new Ask(true, stream, usage, fields, "'Hi " + asks.size() + "'"));
      }
      for (String fields : COMPLETIONS) {
        usage = !usage;
        asks.add(new Ask(false, stream, usage, fields, "'Hi " + asks.size() + "'"));
      }
      asks.add(new Ask(true, stream, usage, "", longPrompt));
      asks.add(new Ask(false, stream, !usage, "", longPrompt));
      asks.add(new Ask(false, stream, usage, "'max_tokens':2,", "[5,0,2147483647,7]"));
    }
    return asks;
  }

  private static ObjectNode json(String text) {
    try {
      return (ObjectNode) JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw new AssertionError(text, e);
    }
  }

  private static Reply send(StrictLegs fleet, Ask ask, String id) {
    return fleet.gateway().post(ask.path(), ask.body(), "X-Request-Id: " + id);
  }

  /** Checks the client's reply; the usage that it has. */
  private static List<JsonNode> served(Ask ask, Reply reply, int words) {
    String as = ask + " -> " + reply.status() + " " + reply.text();
    assertThat(reply.status()).as(as).isEqualTo(200);
    List<JsonNode> events = new ArrayList<>();
    if (ask.stream) {
      List<String> lines = reply.text().lines().filter(line -> line.startsWith("data: ")).toList();
      assertThat(lines).as(as).endsWith("data: [DONE]");
      lines.subList(0, lines.size() - 1).forEach(line -> events.add(json(line.substring(6))));
    } else {
      events.add(reply.json());
    }
    StringBuilder text = new StringBuilder();
    List<String> reasons = new ArrayList<>();
    List<JsonNode> usages = new ArrayList<>();
    for (JsonNode event : events) {
      if (event.path("usage").isObject()) {
        usages.add(event.path("usage"));
      }
      for (JsonNode choice : event.path("choices")) {
        String content = ask.stream ? "/delta/content" : "/message/content";
        text.append((ask.chat ? choice.at(content) : choice.path("text")).asText());
        if (!choice.path("finish_reason").isNull()) {
          reasons.add(choice.path("finish_reason").asText());
        }
      }
    }
    String expected = String.join(" ", List.of(ANSWER.split(" ", -1)).subList(0, words));
    assertThat(text.toString()).as(as).isEqualTo(expected);
    assertThat(reasons).as(as).hasSize(1);
    assertThat(usages).as(as).hasSize(!ask.stream || ask.usage ? 1 : 0);
    usages.forEach(u -> assertThat(u.path("completion_tokens").asInt()).as(as).isEqualTo(words));
    return usages;
  }

  private static int words(Ask ask) {
    JsonNode body = json(ask.body());
    int limit = body.path("max_completion_tokens").asInt(body.path("max_tokens").asInt(5));
    return Math.min(5, limit);
  }

  /** The one leg of a request among these servers, whose id may have grown; waits for it. */
  private static Leg leg(List<LegServer> servers, String id) {
    return Await.value(
        "a leg of " + id,
        () -> {
          List<Leg> legs =
              servers.stream()
                  .flatMap(server -> server.served().stream())
                  .filter(leg -> leg.header("X-Request-Id").startsWith(id))
                  .toList();
          assertThat(legs).hasSizeLessThan(2);
          return legs.isEmpty() ? null : legs.get(0);
        });
  }

  /** Checks that a leg has the client's fields, except those that its protocol changes. */
  private static void unchanged(Protocol protocol, Ask ask, Leg leg, boolean prefill) {
    ObjectNode sent = json(ask.body());
    ObjectNode arrived = json(leg.text());
    arrived.remove(OF_PROTOCOLS);
    if (prefill) {
      sent.remove(LIMITS);
      arrived.remove(LIMITS);
    } else if (!ask.usage) {
      arrived.remove("stream_options");
    }
    if (!prefill && !ask.chat && protocol == Protocol.CONTEXT_FIRST) {
      arrived.set("prompt", sent.get("prompt"));
    }
    assertThat(arrived).as(protocol + " " + ask).isEqualTo(sent);
  }

  @ParameterizedTest
  @EnumSource
  void everyShapeIsServedByTwoServers(Protocol protocol) {
    List<Ask> asks = asks();
    try (StrictLegs fleet = StrictLegs.start(protocol, LONG_LEASE_MS)) {
      for (int i = 0; i < asks.size(); i++) {
        Ask ask = asks.get(i);
        Reply reply = send(fleet, ask, "q-" + i + "-");
        assertThat(fleet.refused()).as(ask.toString()).isEmpty();
        served(ask, reply, words(ask));
        unchanged(protocol, ask, leg(fleet.prefills(), "q-" + i + "-"), true);
        unchanged(protocol, ask, leg(fleet.decodes(), "q-" + i + "-"), false);
      }
      assertThat(fleet.transfers().taken()).isEqualTo(asks.size());
      assertThat(fleet.transfers().pinned()).isZero();
      assertThat(fleet.whole()).isZero();
      fleet.all().forEach(server -> assertThat(server.served()).isNotEmpty());
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"NIXL_PULL", "NIXL_PUSH", "MOONCAKE"})
  void everyRankOfVllmTakesLegs(Protocol protocol) {
    try (StrictLegs fleet = StrictLegs.start(protocol, LONG_LEASE_MS)) {
      for (int i = 0; i < 16; i++) {
        Ask ask = new Ask(true, i % 2 == 0, true, "", "'Hi " + i + "'");
        served(ask, send(fleet, ask, "r-" + i + "-"), 5);
        leg(fleet.prefills(), "r-" + i + "-");
      }
      for (LegServer server : fleet.all()) {
        Set<String> ranks = new HashSet<>();
        server.served().forEach(leg -> ranks.add(leg.headers().getFirst("X-data-parallel-rank")));
        assertThat(ranks).containsExactlyInAnyOrder("0", "1");
      }
    }
  }

  /** The decode server counts all that has come as cached. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void cachedTokensAreThoseOfPrefill(boolean stream) {
    Ask ask = new Ask(true, stream, true, "", "'How many of these tokens were cached?'");
    try (StrictLegs fleet = StrictLegs.start(Protocol.NIXL_PULL, LONG_LEASE_MS)) {
      Reply reply = send(fleet, ask, "u");
      List<JsonNode> usages = served(ask, reply, 5);
      assertThat(usages.get(0).at("/prompt_tokens_details/cached_tokens").asInt())
          .isEqualTo(LegServer.CACHED_TOKENS);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aContextThatEndsTheAnswerIsTheReply(boolean stream) {
    try (StrictLegs fleet = StrictLegs.start(Protocol.CONTEXT_FIRST, LONG_LEASE_MS)) {
      for (boolean chat : new boolean[] {false, true}) {
        Ask ask = new Ask(chat, stream, true, "", "'" + Trtllm.ENDS + "'");
        served(ask, send(fleet, ask, "e"), 1);
      }
      fleet.decodes().forEach(server -> assertThat(server.served()).isEmpty());
      assertThat(fleet.refused()).isEmpty();
      assertThat(fleet.transfers().pinned()).isZero();
    }
  }

  @Test
  void mooncakesEngineIdsAreAskedForAgainAfterARestart() {
    try (StrictLegs fleet = StrictLegs.start(Protocol.MOONCAKE, LONG_LEASE_MS)) {
      Mooncake first = (Mooncake) fleet.prefills().get(0);
      Mooncake second = (Mooncake) fleet.prefills().get(1);
      Ask ask = new Ask(true, true, false, "", "'Hi'");
      for (int i = 0; i < 8; i++) {
        served(ask, send(fleet, ask, "a-" + i), 5);
      }
      assertThat(first.questions()).isEqualTo(1);
      first.stop();
      fleet.awaitHealthy(first, false);
      first.restart();
      fleet.awaitHealthy(first, true);
      int before = first.served().size();
      for (int i = 0; i < 8; i++) {
        served(ask, send(fleet, ask, "b-" + i), 5);
      }
      assertThat(first.served().size()).isGreaterThan(before);
      assertThat(first.questions()).isEqualTo(2);
      assertThat(second.questions()).isEqualTo(1);
      assertThat(fleet.refused()).isEmpty();
      assertThat(fleet.whole()).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "NIXL_PULL,EMPTY,false",
    "NIXL_PULL,NULL_IDS,true",
    "NIXL_PUSH,EMPTY,true",
    "MOONCAKE,EMPTY,false",
    "SGLANG,EMPTY,true",
    "CONTEXT_FIRST,EMPTY,true",
    "CONTEXT_FIRST,NULL_IDS,false",
    "CONTEXT_FIRST,TWO_CHOICES,true",
    "GENERATION_FIRST,EMPTY,false"
  })
  void aWrongAnswerOfOnePrefillServerHarmsNoRequest(
      Protocol protocol, Faults.Kind kind, boolean stream) {
    try (StrictLegs fleet = StrictLegs.start(protocol, SHORT_LEASE_MS)) {
      Ask ask = new Ask(stream, stream, true, "", "'Hi'");
      fleet.prefillFaults().arm(kind, 1);
      served(ask, send(fleet, ask, "w"), 5);
      assertThat(fleet.prefillFaults().left()).isZero();
      assertThat(fleet.refused()).isEmpty();
      Await.until("no pins", () -> fleet.transfers().pinned() == 0);
    }
  }

  @ParameterizedTest
  @EnumSource(names = "SGLANG", mode = EnumSource.Mode.EXCLUDE)
  void withoutARightAnswerOfPrefillADecodeServerComputesThePrompt(Protocol protocol) {
    try (StrictLegs fleet = StrictLegs.start(protocol, SHORT_LEASE_MS)) {
      Ask ask = new Ask(true, true, true, "", "'Hi'");
      fleet.prefillFaults().arm(Faults.Kind.EMPTY, 100);
      served(ask, send(fleet, ask, "n"), 5);
      assertThat(fleet.refused()).isEmpty();
      Await.until("no pins", () -> fleet.transfers().pinned() == 0);
    }
  }

  @Test
  void withoutARightAnswerOfPrefillSglangsRequestFailsClearly() {
    try (StrictLegs fleet = StrictLegs.start(Protocol.SGLANG, SHORT_LEASE_MS)) {
      Ask ask = new Ask(true, true, true, "", "'Hi'");
      fleet.prefillFaults().arm(Faults.Kind.EMPTY, 100);
      Reply reply = send(fleet, ask, "n");
      assertThat(reply.status()).as(reply.text()).isBetween(500, 504);
      assertThat(reply.message()).isNotEmpty();
      assertThat(fleet.refused()).isEmpty();
      Await.until("no pins", () -> fleet.transfers().pinned() == 0);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aDecodeServerThatDiesBeforeItsFirstByteIsReplaced(Protocol protocol) {
    try (StrictLegs fleet = StrictLegs.start(protocol, SHORT_LEASE_MS)) {
      for (boolean stream : new boolean[] {false, true}) {
        Ask ask = new Ask(!stream, stream, true, "", "'Hi'");
        fleet.decodeFaults().arm(Faults.Kind.CLOSE, 1);
        served(ask, send(fleet, ask, "d-" + stream), 5);
        assertThat(fleet.decodeFaults().left()).isZero();
      }
      assertThat(fleet.refused()).isEmpty();
      Await.until("no pins", () -> fleet.transfers().pinned() == 0);
    }
  }
}
