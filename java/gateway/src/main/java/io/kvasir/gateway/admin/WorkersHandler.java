package io.kvasir.gateway.admin;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.exchange.BodyHold;
import io.kvasir.exchange.Exchange;
import io.kvasir.gateway.proxy.Problem;
import io.kvasir.gateway.proxy.Replies;
import io.kvasir.gateway.proxy.Services;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.worker.ApiKey;
import io.kvasir.gateway.worker.WorkerSpec;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists the workers, and changes them for operators that have the key: {@code /kvasir/workers} and
 * {@code /kvasir/workers/ID}, where a worker's id is its name in logs and metrics.
 *
 * <p>Thread-safe.
 */
public final class WorkersHandler {

  private static final Logger LOG = LoggerFactory.getLogger(WorkersHandler.class);
  private static final JsonFactory JSON = new JsonFactory();
  private static final ObjectMapper READER =
      new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
  private static final String PATH = "/kvasir/workers";
  private static final String SPEC = "worker";
  private static final String CORDONED = "cordoned";
  private static final String WEIGHT = "weight";
  private static final int MAX_SPEC_CHARACTERS = 65_536;

  private final Services services;
  private final FleetControl control;
  private final Executor changes;
  private final @Nullable ApiKey key;

  /** A body that is wrong. */
  private static final class WrongBodyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final @Nullable String field;

    WrongBodyException(@Nullable String field, String message) {
      super(message);
      this.field = field;
    }
  }

  /**
   * Creates a handler.
   *
   * @param services what all requests share
   * @param control changes the workers
   * @param changes runs the changes, which can take milliseconds, one after the other
   * @param key what requests that change workers must present; null if none can
   */
  public WorkersHandler(
      Services services, FleetControl control, Executor changes, @Nullable ApiKey key) {
    this.services = services;
    this.control = control;
    this.changes = changes;
    this.key = key;
  }

  /** Whether requests to a path belong here. */
  static boolean serves(String path) {
    return path.equals(PATH) || path.startsWith(PATH + "/");
  }

  /** Answers a request. */
  void accept(Exchange exchange, String path) {
    String name =
        path.length() > PATH.length() + 1 ? decoded(path.substring(PATH.length() + 1)) : "";
    String method = exchange.method();
    if (method.equals("GET") || method.equals("HEAD")) {
      if (name.isEmpty()) {
        list(exchange);
      } else {
        show(exchange, 200, name);
      }
      return;
    }
    boolean known =
        name.isEmpty() ? method.equals("POST") : Set.of("PUT", "PATCH", "DELETE").contains(method);
    if (!known) {
      AdminBody.problem(
          exchange,
          Problem.of(
              405,
              "method_not_allowed",
              "the method must be "
                  + (name.isEmpty() ? "GET or POST" : "GET, PUT, PATCH or DELETE")));
    } else if (mayChange(exchange)) {
      change(exchange, method, name);
    }
  }

  private static String decoded(String segment) {
    try {
      return URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return segment;
    }
  }

  private boolean mayChange(Exchange exchange) {
    if (key == null) {
      AdminBody.problem(
          exchange,
          Problem.of(403, "changes_disabled", "workers can be changed only with --admin-key-file"));
      return false;
    }
    if (!key.isPresented(exchange.headers().get("authorization"))) {
      AdminBody.problem(
          exchange,
          Problem.of(
              401,
              "invalid_api_key",
              "the field Authorization must be Bearer and the key of --admin-key-file"));
      return false;
    }
    return true;
  }

  private void change(Exchange exchange, String method, String name) {
    if (method.equals("DELETE")) {
      answering(exchange, () -> remove(exchange, name));
      return;
    }
    Function<byte[], Runnable> then =
        method.equals("PATCH")
            ? body -> patch(exchange, name, body)
            : body -> put(exchange, name, body);
    AdminBody.readHeld(
        exchange,
        services,
        (body, hold) -> {
          hold.pin();
          hold.release(); // when it is read
          answering(exchange, () -> read(body, hold, then));
        });
  }

  private static Runnable read(byte[] body, BodyHold hold, Function<byte[], Runnable> then) {
    try {
      return then.apply(body);
    } finally {
      hold.unpin();
    }
  }

  /**
   * Answers later, on the exchange's loop.
   *
   * @param action changes the workers, not on an event loop; returns what answers
   */
  private void answering(Exchange exchange, Supplier<Runnable> action) {
    changes.execute(
        () -> {
          Runnable answer = answer(exchange, action);
          exchange.loop().execute(answer);
        });
  }

  private static Runnable answer(Exchange exchange, Supplier<Runnable> action) {
    try {
      return action.get();
    } catch (WrongBodyException e) {
      return problem(exchange, Problem.invalid(e.field, Errors.reason(e)));
    } catch (IllegalArgumentException e) {
      return problem(exchange, Problem.of(409, "conflict", Errors.reason(e)));
    } catch (RuntimeException e) {
      LOG.error("a change of the workers failed", e);
      return problem(exchange, Problem.internal());
    }
  }

  private static Runnable problem(Exchange exchange, Problem problem) {
    return () -> AdminBody.problem(exchange, problem);
  }

  private Runnable remove(Exchange exchange, String name) {
    return control.remove(name)
        ? () ->
            Replies.json(
                exchange, 200, "{\"worker_id\":" + quoted(name) + ",\"change\":\"removed\"}")
        : () -> unknown(exchange, name);
  }

  private Runnable patch(Exchange exchange, String name, byte[] body) {
    JsonNode fields = fields(body, Set.of(CORDONED, WEIGHT));
    if (fields.isEmpty()) {
      throw new WrongBodyException(CORDONED, CORDONED + " or " + WEIGHT + " must be given");
    }
    boolean cordoned = cordoned(fields);
    double weight = weight(fields);
    boolean known =
        (!fields.has(CORDONED) || control.cordon(name, cordoned))
            && (!fields.has(WEIGHT) || control.weigh(name, weight));
    return known ? () -> show(exchange, 200, name) : () -> unknown(exchange, name);
  }

  private static double weight(JsonNode fields) {
    double weight = fields.path(WEIGHT).asDouble();
    if (fields.has(WEIGHT) && !(fields.path(WEIGHT).isNumber() && weight > 0 && weight <= 1)) {
      throw new WrongBodyException(WEIGHT, WEIGHT + " must be a number above 0 and at most 1");
    }
    return weight;
  }

  private Runnable put(Exchange exchange, String name, byte[] body) {
    JsonNode fields = fields(body, Set.of(SPEC, CORDONED));
    boolean cordoned = cordoned(fields);
    String text = fields.path(SPEC).asText();
    if (!fields.path(SPEC).isTextual() || text.length() > MAX_SPEC_CHARACTERS) {
      throw new WrongBodyException(
          SPEC, SPEC + " must be a text URL[,KEY=VALUE]..., as --worker takes it");
    }
    WorkerSpec spec;
    try {
      spec = WorkerSpec.parse(text);
    } catch (IllegalArgumentException e) {
      throw new WrongBodyException(SPEC, SPEC + " is wrong: " + Errors.reason(e));
    }
    if (!name.isEmpty() && !name.equals(spec.name())) {
      throw new WrongBodyException(
          SPEC, "the path must end with " + spec.name() + ", which the URL of " + SPEC + " names");
    }
    FleetControl.Change change = control.put(spec);
    if (fields.has(CORDONED)) {
      control.cordon(spec.name(), cordoned);
    }
    int status = change == FleetControl.Change.ADDED ? 201 : 200;
    return () -> show(exchange, status, spec.name());
  }

  private static JsonNode fields(byte[] body, Set<String> allowed) {
    JsonNode fields;
    try {
      fields = READER.readTree(body);
    } catch (IOException e) {
      throw new WrongBodyException(null, "the body must be JSON");
    }
    if (fields == null || !fields.isObject()) {
      throw new WrongBodyException(null, "the body must be a JSON object");
    }
    for (Iterator<String> names = fields.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!allowed.contains(name)) {
        throw new WrongBodyException(
            Errors.shown(name), "a field must be one of " + allowed.stream().sorted().toList());
      }
    }
    return fields;
  }

  private static boolean cordoned(JsonNode fields) {
    JsonNode value = fields.path(CORDONED);
    if (!value.isMissingNode() && !value.isBoolean()) {
      throw new WrongBodyException(CORDONED, CORDONED + " must be true or false");
    }
    return value.asBoolean();
  }

  private static void unknown(Exchange exchange, String name) {
    AdminBody.problem(
        exchange,
        Problem.of(404, "worker_not_found", "there is no worker '" + Errors.shown(name) + "'"));
  }

  private void show(Exchange exchange, int status, String name) {
    for (FleetWorker worker : all()) {
      if (worker.name().equals(name)) {
        Replies.json(exchange, status, text(json -> write(json, worker)));
        return;
      }
    }
    unknown(exchange, name);
  }

  /** Answers with all workers. */
  void list(Exchange exchange) {
    String text =
        text(
            json -> {
              json.writeStartArray();
              for (FleetWorker worker : all()) {
                write(json, worker);
              }
              json.writeEndArray();
            });
    Replies.json(exchange, 200, text + "\n");
  }

  /** Those that are to take the place of others, those of the fleets, then those that go. */
  private List<FleetWorker> all() {
    List<FleetWorker> all = new ArrayList<>(control.coming());
    all.addAll(services.fleets().workers());
    all.addAll(control.leaving());
    return all;
  }

  /** Writes JSON. */
  private interface Content {
    void write(JsonGenerator json) throws IOException;
  }

  private static String text(Content content) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(text)) {
      content.write(json);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  private static String quoted(String value) {
    return text(json -> json.writeString(value));
  }

  private String state(FleetWorker worker) {
    if (worker.membership().hasLeft()) {
      return "leaving";
    }
    if (control.coming().contains(worker)) {
      return "coming";
    }
    return worker.membership().cordoned() ? "cordoned" : "serving";
  }

  private void write(JsonGenerator json, FleetWorker worker) throws IOException {
    json.writeStartObject();
    json.writeStringField("worker_id", worker.name());
    json.writeStringField("state", state(worker));
    json.writeStringField("role", worker.role().id());
    json.writeStringField("flavor", worker.engine());
    json.writeNumberField("ranks", worker.profile().ranks());
    json.writeBooleanField("healthy", worker.healthy());
    json.writeBooleanField("takes_requests", services.fleets().takes(worker, services.nowNs()));
    json.writeNumberField(WEIGHT, worker.membership().weight());
    json.writeNumberField("active_requests", worker.membership().activeRequests());
    json.writeArrayFieldStart("problems");
    if (!worker.problem().isEmpty()) {
      json.writeString(worker.problem());
    }
    for (String problem : worker.contradictions()) {
      json.writeString(problem);
    }
    json.writeEndArray();
    json.writeArrayFieldStart("models");
    for (String model : worker.models()) {
      json.writeString(model);
    }
    json.writeEndArray();
    json.writeEndObject();
  }
}
