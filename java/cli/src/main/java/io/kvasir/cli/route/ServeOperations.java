package io.kvasir.cli.route;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.trtllm.CacheEvents;
import io.kvasir.fleet.router.trtllm.Explanation;
import io.kvasir.fleet.router.trtllm.KvCacheAwareRouter;
import io.kvasir.fleet.router.trtllm.ServeChoice;
import io.kvasir.fleet.router.trtllm.ServePorts;
import io.kvasir.fleet.router.trtllm.ServeRequest;
import io.kvasir.fleet.router.trtllm.ServeRouter;
import io.kvasir.fleet.router.trtllm.ServeRouterKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A serve-layer router that answers {@code next}, {@code finish}, {@code add_server}, {@code
 * remove_server} and {@code events}. Not thread-safe.
 */
final class ServeOperations {

  static final Set<String> CONFIGURE = Set.of("op", "router", "servers", "args");

  private static final Set<String> NEXT =
      Set.of(
          "op",
          "id",
          "prompt",
          "inputTokens",
          "messages",
          "conversationId",
          "exclude",
          "generationOnly");
  private static final Set<String> MESSAGE = Set.of("role", "content");
  private static final Set<String> FINISH = Set.of("op", "id", "success");
  private static final Set<String> SERVER = Set.of("op", "server");
  private static final Set<String> EVENTS = Set.of("op", "server", "events");

  private final ServeRouter router;
  private final Map<Long, ServeChoice> inFlight = new HashMap<>();

  ServeOperations(Fields configure, Map<String, ?> args) {
    List<String> servers = new ArrayList<>();
    for (JsonNode server : configure.array("servers")) {
      if (!server.isTextual()) {
        throw new InvalidLineException("servers must be an array of strings, not " + server);
      }
      servers.add(server.textValue());
    }
    this.router =
        ServeRouterKind.named(configure.requiredText("router"))
            .create(servers, args, ServePorts.NONE);
  }

  void next(JsonNode line, JsonGenerator out) throws IOException {
    Fields fields = new Fields("", line, NEXT);
    long id = fields.id("id");
    if (inFlight.containsKey(id)) {
      throw new InvalidLineException("id " + id + " is in flight");
    }
    ServeRequest request =
        ServeRequest.of(prompt(fields)).withConversation(fields.text("conversationId"));
    if (fields.flag("generationOnly", false)) {
      request = request.asGenerationOnly();
    }
    ServeChoice choice = router.next(request, fields.text("exclude"));
    inFlight.put(id, choice);
    write(choice, out);
  }

  private static Prompt prompt(Fields fields) {
    int[] tokens = fields.integers("inputTokens");
    JsonNode messages = fields.array("messages");
    String text = fields.text("prompt");
    int given = (tokens == null ? 0 : 1) + (messages.isArray() ? 1 : 0) + (text == null ? 0 : 1);
    if (given != 1) {
      throw new InvalidLineException("one of prompt, inputTokens and messages must be given");
    }
    if (tokens != null) {
      return Prompt.of(tokens);
    }
    if (text != null) {
      return Prompt.of(text);
    }
    List<Prompt.Message> chat = new ArrayList<>();
    for (int i = 0; i < messages.size(); i++) {
      Fields message = new Fields("messages[" + i + "]", messages.get(i), MESSAGE);
      chat.add(new Prompt.Message(message.text("role"), message.text("content")));
    }
    return new Prompt.Chat(chat);
  }

  void finish(JsonNode line) {
    Fields fields = new Fields("", line, FINISH);
    ServeChoice choice = inFlight.remove(fields.id("id"));
    if (choice != null) {
      router.finish(choice, fields.flag("success", true));
    }
  }

  void addServer(JsonNode line) {
    router.addServer(new Fields("", line, SERVER).requiredText("server"));
  }

  void removeServer(JsonNode line) {
    router.removeServer(new Fields("", line, SERVER).requiredText("server"));
  }

  void events(JsonNode line, List<?> events) {
    String server = new Fields("", line, EVENTS).requiredText("server");
    if (!(router instanceof KvCacheAwareRouter following)) {
      throw new InvalidLineException("router " + router.name() + " takes no events");
    }
    following.onEvents(server, CacheEvents.parse(events));
  }

  private void write(ServeChoice choice, JsonGenerator out) throws IOException {
    Explanation why = choice.explanation();
    out.writeStartObject();
    out.writeStringField("server", choice.server());
    out.writeObjectFieldStart("info");
    out.writeStringField("reason", why.reason().id());
    out.writeBooleanField("firstTurn", why.firstTurn());
    if (why.conversationId() != null) {
      out.writeStringField("conversationId", why.conversationId());
    }
    if (router instanceof KvCacheAwareRouter) {
      out.writeObjectFieldStart("matches");
      for (Map.Entry<String, Long> match : why.matches().entrySet()) {
        out.writeNumberField(match.getKey(), match.getValue());
      }
      out.writeEndObject();
      out.writeNumberField("matchLength", why.matchLength());
    }
    out.writeEndObject();
    out.writeEndObject();
  }
}
