package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.model.CacheScope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Runs a vector's steps on a router. */
final class ServeScript {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final ServeRouter router;
  private final Map<Integer, List<ServeChoice>> open = new HashMap<>();
  private final List<ServeChoice> all = new ArrayList<>();

  ServeScript(JsonNode configure) {
    Map<String, Object> args = JSON.convertValue(configure.get("args"), new TypeReference<>() {});
    List<String> servers = JSON.convertValue(configure.get("servers"), new TypeReference<>() {});
    router =
        ServeRouterKind.named(configure.get("router").asText())
            .create(servers, args, ServePorts.NONE);
  }

  void run(JsonNode steps) {
    for (JsonNode step : steps) {
      if (step.path("error").asBoolean()) {
        assertThat(catchThrowable(() -> perform(step)))
            .as("%s", step)
            .isInstanceOfAny(
                IllegalArgumentException.class,
                IllegalStateException.class,
                NoServerException.class);
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
              .forEach(choice -> router.finish(choice, step.get("success").asBoolean()));
      case "finish_on" ->
          all.stream()
              .filter(choice -> choice.server().equals(step.get("server").asText()))
              .limit(step.get("count").asInt())
              .forEach(choice -> router.finish(choice, false));
      case "add_server" -> router.addServer(step.get("server").asText());
      case "remove_server" -> router.removeServer(step.get("server").asText());
      case "events" -> {
        List<?> events = JSON.convertValue(step.get("events"), List.class);
        ((KvCacheAwareRouter) router)
            .onEvents(step.get("server").asText(), CacheEvents.parse(events));
      }
      case "prepare" ->
          ((KvCacheAwareRouter) router)
              .prepare(
                  step.get("server").asText(),
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
                      assertThat(router.load(load.getKey()))
                          .as("%s", step)
                          .isEqualTo(load.getValue().asLong()));
      default -> throw new AssertionError(step);
    }
  }

  private void checkPrepared(JsonNode step) {
    KvCacheAwareRouter aware = (KvCacheAwareRouter) router;
    String server = step.get("server").asText();
    assertThat(aware.ready(server)).isEqualTo(step.get("ready").asBoolean());
    assertThat(aware.onEvents(server, List.of())).isEqualTo(step.get("believes").asBoolean());
  }

  private void next(JsonNode step) {
    ServeChoice choice = router.next(request(step), step.path("exclude").asText(null));
    open.computeIfAbsent(step.get("id").asInt(), id -> new ArrayList<>()).add(choice);
    all.add(choice);
    JsonNode expected = step.path("expect");
    Explanation explanation = choice.explanation();
    expected
        .properties()
        .forEach(
            field -> {
              JsonNode value = field.getValue();
              Object actual =
                  switch (field.getKey()) {
                    case "server" -> choice.server();
                    case "reason" -> explanation.reason().id();
                    case "firstTurn" -> explanation.firstTurn();
                    case "conversationId" -> explanation.conversationId();
                    case "matchLength" -> (int) explanation.matchLength();
                    case "tokens" -> (int) explanation.tokenCount();
                    case "matches" -> explanation.matches();
                    default -> throw new AssertionError(field.getKey());
                  };
              assertThat(JSON.<JsonNode>valueToTree(actual).toString())
                  .as("%s of %s", field.getKey(), step)
                  .isEqualTo(value.toString());
            });
  }

  private static ServeRequest request(JsonNode step) {
    return new ServeRequest(
        prompt(step),
        null,
        step.path("conversationId").asText(null),
        CacheScope.NONE,
        step.path("generationOnly").asBoolean());
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
}
