package io.kvasir.cli.lines.route;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.cli.lines.JsonLines;
import io.kvasir.engine.execute.WaitingQueue;
import io.kvasir.engine.execute.WaitingQueuePolicy;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads operations on routers, one JSON object a line, and writes one JSON object for each, in
 * order. A line that cannot be carried out is answered with an error and changes nothing. Memory
 * does not grow with the number of lines. Not thread-safe.
 */
public final class RouteLines extends JsonLines {

  private static final Set<String> POP =
      Set.of("op", "maxCount", "maxActiveRequests", "activeRequests", "policy", "queue");
  private static final BlockHashes NO_HASHES = new BlockHashes(new long[0], new long[0]);

  private AdpOperations adp;
  private FleetOperations fleet;

  /**
   * Makes a reader of lines.
   *
   * @param in where the lines come from
   * @param out where the answers go
   */
  public RouteLines(InputStream in, OutputStream out) {
    super(in, out);
  }

  @Override
  protected void carryOut(JsonNode node, JsonGenerator generator) throws IOException {
    switch (op(node)) {
      case "route" -> adp().route(node, generator);
      case "next" -> fleet().next(node, generator);
      case "pop" -> pop(node, generator);
      case "configure" -> done(() -> configure(node), generator);
      case "finish" -> done(() -> fleet().finish(node), generator);
      case "add_server" -> done(() -> fleet().addServer(node), generator);
      case "remove_server" -> done(() -> fleet().removeServer(node), generator);
      case "events" -> done(() -> fleet().events(node, plain(node, "events")), generator);
      case "prepare" -> done(() -> fleet().prepare(node), generator);
      default ->
          throw new InvalidLineException(
              "op must be one of configure, route, pop, next, finish, add_server, remove_server,"
                  + " events, prepare, not "
                  + node.get("op"));
    }
  }

  /** Everything is made anew; what fails leaves the old routers in place. */
  private void configure(JsonNode node) {
    if (node.has("servers")) {
      Fields fields = new Fields("", node, FleetOperations.CONFIGURE);
      fleet = new FleetOperations(fields, block(node, "args"));
      adp = null;
    } else {
      Fields fields = new Fields("", node, AdpOperations.CONFIGURE);
      adp = new AdpOperations(fields, block(node, "attention_dp_config"));
      fleet = null;
    }
  }

  private AdpOperations adp() {
    if (adp == null) {
      throw new InvalidLineException("route needs a configure with ranks before it");
    }
    return adp;
  }

  private FleetOperations fleet() {
    if (fleet == null) {
      throw new InvalidLineException("this op needs a configure with servers before it");
    }
    return fleet;
  }

  @SuppressWarnings("unchecked")
  private Map<String, ?> block(JsonNode node, String name) {
    JsonNode block = node.get(name);
    if (block == null || block.isNull()) {
      return Map.of();
    }
    if (!block.isObject()) {
      throw new InvalidLineException(name + " must be an object, not " + block);
    }
    return mapper().convertValue(block, Map.class);
  }

  private List<?> plain(JsonNode node, String name) {
    JsonNode array = node.get(name);
    if (array == null || !array.isArray()) {
      throw new InvalidLineException(name + " must be an array");
    }
    return mapper().convertValue(array, List.class);
  }

  private static void pop(JsonNode node, JsonGenerator generator) throws IOException {
    Fields fields = new Fields("", node, POP);
    int[] active = fields.integers("activeRequests");
    WaitingQueuePolicy policy =
        fields.has("policy")
            ? WaitingQueuePolicy.named(fields.requiredText("policy"))
            : WaitingQueuePolicy.FCFS;
    WaitingQueue queue = policy.newQueue();
    JsonNode waiting = fields.array("queue");
    for (int i = 0; i < waiting.size(); i++) {
      Request request = AdpOperations.request("queue[" + i + "]", waiting.get(i));
      queue.enqueue(new HashedRequest(request, NO_HASHES));
    }
    List<HashedRequest> popped = new ArrayList<>();
    queue.pop(
        fields.integer("maxCount", Integer.MIN_VALUE, Integer.MAX_VALUE),
        fields.integer("maxActiveRequests", 0, Integer.MAX_VALUE, Integer.MAX_VALUE),
        active == null ? new int[0] : active,
        popped);
    generator.writeStartObject();
    write("popped", popped, generator);
    write("queue", queue.toList(), generator);
    generator.writeEndObject();
  }

  private static void write(String name, List<HashedRequest> requests, JsonGenerator generator)
      throws IOException {
    generator.writeArrayFieldStart(name);
    for (HashedRequest request : requests) {
      generator.writeNumber(request.request().id());
    }
    generator.writeEndArray();
  }
}
