package io.kvasir.cli.lines.route;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.cli.lines.JsonLines;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.cli.lines.fleet.FleetDialect;
import io.kvasir.cli.lines.former.FormerOperations;
import io.kvasir.engine.execute.WaitingQueue;
import io.kvasir.engine.execute.WaitingQueuePolicy;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Errors;
import io.kvasir.model.Request;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The operations of {@code kvasir route}, on ADP routers, fleet routers and waiting queues. Not
 * thread-safe.
 */
public final class RouteLines extends JsonLines implements AutoCloseable {

  private static final Set<String> POP =
      Set.of("op", "maxCount", "maxActiveRequests", "activeRequests", "policy", "queue");
  private static final BlockHashes NO_HASHES = new BlockHashes(new long[0], new long[0]);

  private @Nullable AdpOperations adp;
  private @Nullable FleetDialect fleet;
  private @Nullable FormerOperations former;

  /**
   * Makes a reader of lines.
   *
   * @param in the lines
   * @param out receives the answers
   * @param limit bounds the work of a line
   */
  public RouteLines(InputStream in, OutputStream out, LineLimit limit) {
    super(in, out, limit);
  }

  @Override
  protected void carryOut(JsonNode node, JsonGenerator generator) throws IOException {
    String op = op(node);
    if (op.equals("configure")) {
      done(() -> configure(node), generator);
    } else if (op.equals("pop")) {
      pop(node, generator);
    } else if (fleet != null && FleetDialect.OPERATIONS.contains(op)) {
      fleet.carryOut(op, node, generator);
    } else if (op.equals("route")) {
      adp().route(node, generator);
    } else if (FormerOperations.ON_SERVERS.contains(op)) {
      former().carryOut(op, node, generator);
    } else if (FleetDialect.OPERATIONS.contains(op)) {
      throw new InvalidLineException(
          "this op needs a configure with " + FleetDialect.POLICY + " before it");
    } else {
      String allowed =
          fleet != null
              ? "configure, pop, " + String.join(", ", FleetDialect.OPERATIONS)
              : "configure, route, pop, " + String.join(", ", FormerOperations.ON_SERVERS);
      throw new InvalidLineException(
          "op must be one of " + allowed + ", not " + Errors.shown(node.get("op")));
    }
  }

  /** Replaces the router. If this fails, the old router stays. */
  private void configure(JsonNode node) {
    if (node.has("servers")) {
      FormerOperations configured = FormerOperations.onServers(node, limit());
      close();
      former = configured;
    } else if (node.has(FleetDialect.POLICY)) {
      FleetDialect configured = new FleetDialect(node, limit());
      close();
      fleet = configured;
    } else {
      Fields fields = new Fields("", node, AdpOperations.CONFIGURE);
      AdpOperations configured = new AdpOperations(fields, limit());
      close();
      adp = configured;
    }
  }

  @Override
  public void close() {
    adp = null;
    if (fleet != null) {
      fleet.close();
      fleet = null;
    }
    if (former != null) {
      former.close();
      former = null;
    }
  }

  private AdpOperations adp() {
    if (adp == null) {
      throw new InvalidLineException("route needs a configure with ranks before it");
    }
    return adp;
  }

  private FormerOperations former() {
    if (former == null) {
      throw new InvalidLineException("this op needs a configure with servers before it");
    }
    return former;
  }

  private void pop(JsonNode node, JsonGenerator generator) throws IOException {
    Fields fields = new Fields("", node, POP);
    int[] active = fields.integers("activeRequests", new int[0]);
    WaitingQueuePolicy policy =
        fields.has("policy")
            ? WaitingQueuePolicy.named(fields.requiredText("policy"))
            : WaitingQueuePolicy.FCFS;
    WaitingQueue queue = policy.newQueue();
    JsonNode waiting = fields.array("queue");
    for (int i = 0; i < waiting.size(); i++) {
      Request request = AdpOperations.request("queue[" + i + "]", waiting.get(i), limit());
      if (request.targetRank() >= active.length) {
        throw new InvalidLineException(
            "queue[%d].targetRank %d has no entry in activeRequests, which has length %d"
                .formatted(i, request.targetRank(), active.length));
      }
      queue.enqueue(new HashedRequest(request, NO_HASHES));
    }
    List<HashedRequest> popped = new ArrayList<>();
    queue.pop(
        fields.integer("maxCount", Integer.MIN_VALUE, Integer.MAX_VALUE),
        fields.integer("maxActiveRequests", 0, Integer.MAX_VALUE, Integer.MAX_VALUE),
        active,
        popped);
    generator.writeStartObject();
    AdpOperations.writeIds("popped", popped.stream().map(HashedRequest::request), generator);
    Stream<HashedRequest> left = queue.toList().stream();
    AdpOperations.writeIds("queue", left.map(HashedRequest::request), generator);
    generator.writeEndObject();
  }
}
