package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.WorkerRouter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Runs a vector's steps on a router. */
final class WorkerScript {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final NamedFleet fleet;
  private final Map<Integer, List<Placement>> open = new HashMap<>();
  private final List<Placement> all = new ArrayList<>();

  WorkerScript(JsonNode configure) {
    Map<String, Object> args = JSON.convertValue(configure.get("args"), new TypeReference<>() {});
    List<String> servers = JSON.convertValue(configure.get("servers"), new TypeReference<>() {});
    fleet =
        new NamedFleet(
            (WorkerRouter<?>)
                FleetRouterKind.named(configure.get("router").asText())
                    .create(args, FleetRouterSetup.of(1)),
            servers.toArray(new String[0]));
  }

  void run(JsonNode steps) {
    for (JsonNode step : steps) {
      if (step.path("error").asBoolean()) {
        assertThat(catchThrowable(() -> perform(step)))
            .as("%s", step)
            .isInstanceOfAny(
                IllegalArgumentException.class, IllegalStateException.class, RefusedError.class);
      } else {
        perform(step);
      }
      if (step.get("op").asText().equals("prepare")) {
        checkPrepared(step);
      }
    }
  }

  private void perform(JsonNode step) {
    switch (step.get("op").asText()) {
      case "next" -> {
        for (int i = 0; i < step.path("repeat").asInt(1); i++) {
          next(step);
        }
      }
      case "finish" ->
          open.getOrDefault(step.get("id").asInt(), List.of())
              .forEach(choice -> fleet.finish(choice, step.get("success").asBoolean()));
      case "finish_on" ->
          all.stream()
              .filter(choice -> fleet.name(choice.rank()).equals(step.get("server").asText()))
              .limit(step.get("count").asInt())
              .forEach(choice -> fleet.finish(choice, false));
      case "add_server" -> fleet.add(step.get("server").asText());
      case "remove_server" -> fleet.remove(step.get("server").asText());
      case "events" -> {
        List<?> events = JSON.convertValue(step.get("events"), List.class);
        events(step, CacheEvents.parse(events));
      }
      case "prepare" ->
          aware()
              .prepare(
                  id(step),
                  new ServerDescription(
                      step.get("tokensPerBlock").isNull()
                          ? null
                          : (Integer) step.get("tokensPerBlock").asInt(),
                      step.get("hash").asText(null)));
      case "loads" ->
          step.get("expect")
              .properties()
              .forEach(
                  load ->
                      assertThat(fleet.load(load.getKey()))
                          .as("%s", step)
                          .isEqualTo(load.getValue().asLong()));
      default -> throw new AssertionError(step);
    }
  }

  private void checkPrepared(JsonNode step) {
    assertThat(aware().ready(id(step))).isEqualTo(step.get("ready").asBoolean());
    assertThat(aware().usesEvents(id(step))).isEqualTo(step.get("believes").asBoolean());
  }

  private void events(JsonNode step, List<BlockEvent> events) {
    if (!fleet.has(step.get("server").asText())) {
      throw new RefusedError("unknown server");
    }
    events.forEach(event -> fleet.tell(step.get("server").asText(), event));
  }

  private KvCacheAwareFleetRouter aware() {
    return (KvCacheAwareFleetRouter) fleet.router();
  }

  private long id(JsonNode step) {
    return fleet.id(step.get("server").asText());
  }

  private void next(JsonNode step) {
    FleetRequest request = request(step);
    RouteOutcome outcome = fleet.router().route(request);
    if (outcome instanceof RouteOutcome.Refused refused) {
      throw new RefusedError(refused.message());
    }
    Placement choice = NamedFleet.placement(outcome);
    open.computeIfAbsent(step.get("id").asInt(), id -> new ArrayList<>()).add(choice);
    all.add(choice);
    JsonNode expected = step.path("expect");
    expected
        .properties()
        .forEach(
            field -> {
              JsonNode value = field.getValue();
              Object actual =
                  switch (field.getKey()) {
                    case "server" -> fleet.name(choice.rank());
                    case "reason" -> choice.reason().id();
                    case "firstTurn" -> choice.firstTurn();
                    case "conversationId" -> choice.conversationId();
                    case "matchLength" -> (int) choice.matchedTokens();
                    case "tokens" -> request.inputTokens();
                    case "matches" -> fleet.matches(choice);
                    default -> throw new AssertionError(field.getKey());
                  };
              assertThat(JSON.<JsonNode>valueToTree(actual).toString())
                  .as("%s of %s", field.getKey(), step)
                  .isEqualTo(value.toString());
            });
  }

  private FleetRequest request(JsonNode step) {
    String excluded = step.path("exclude").asText(null);
    return fleet.build(
        FleetRequest.builder(step.get("id").asLong(), prompt(step))
            .conversationId(step.path("conversationId").asText(null))
            .generationOnly(step.path("generationOnly").asBoolean())
            .filter(excluded == null ? RankFilter.ANY : fleet.without(excluded)));
  }

  private static Prompt prompt(JsonNode step) {
    if (step.has("prompt")) {
      return Prompt.of(step.get("prompt").asText());
    }
    if (step.has("inputTokens")) {
      return Prompt.of(JSON.convertValue(step.get("inputTokens"), int[].class));
    }
    if (step.has("inputRuns")) {
      List<Integer> tokens = new ArrayList<>();
      for (JsonNode run : step.get("inputRuns")) {
        for (int i = 0; i < run.get(1).asInt(); i++) {
          tokens.add(run.get(0).asInt());
        }
      }
      return Prompt.of(tokens.stream().mapToInt(Integer::intValue).toArray());
    }
    if (step.has("promptRuns")) {
      StringBuilder text = new StringBuilder();
      step.get("promptRuns")
          .forEach(run -> text.append(run.get(0).asText().repeat(run.get(1).asInt())));
      return Prompt.of(text.toString());
    }
    List<Prompt.Message> messages = new ArrayList<>();
    step.get("messages")
        .forEach(
            message ->
                messages.add(
                    new Prompt.Message(
                        message.get("role").asText(), message.get("content").asText())));
    return new Prompt.Chat(messages);
  }

  /** A refusal, for steps that must not be executed. */
  private static final class RefusedError extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RefusedError(String message) {
      super(message);
    }
  }
}
