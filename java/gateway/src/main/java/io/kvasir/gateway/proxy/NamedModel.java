package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Headers;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.FormField;
import io.kvasir.gateway.route.ModelFleets;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Finds the model that a request names outside its body: in the query, in the path, or in a field
 * of its head. Stateless.
 */
final class NamedModel {

  /** The field of a form, and the parameter of a query. */
  static final String FIELD = "model";

  private static final String FORM = "application/x-www-form-urlencoded";

  /** Paths whose next segment is a model: of OpenAI's first API, and of Azure's. */
  private static final String[] PATHS = {"/v1/engines/", "/v1/deployments/"};

  /** Fields that routers and gateways in front set: llm-d and Gateway API, Envoy AI Gateway. */
  private static final String[] HEADERS = {"x-gateway-model-name", "x-ai-eg-model"};

  /** Paths of files, whose forms need not name a model. */
  private static final String[] FILES = {"/v1/files", "/v1/uploads"};

  private NamedModel() {}

  /**
   * {@return the model; null if none is named}
   *
   * @param head the request
   */
  static @Nullable String of(RequestHead head) {
    String target = head.target();
    int mark = target.indexOf('?');
    String model = mark < 0 ? null : inQuery(target.substring(mark + 1));
    if (model == null) {
      model = inPath(mark < 0 ? target : target.substring(0, mark));
    }
    return model == null ? inHeaders(head.headers()) : model;
  }

  /**
   * {@return the served model that a request names, or else the only one; null if it names none}
   *
   * @param head the request
   * @param body its body
   * @param fleets the workers by model
   */
  static @Nullable String served(RequestHead head, BodyScan body, ModelFleets fleets) {
    String named = body.model() == null ? of(head) : body.model();
    String listed = fleets.listed(named, body.adapter());
    return listed == null ? fleets.onlyModel() : listed;
  }

  /**
   * {@return whether requests of a path need not name a model}
   *
   * @param head the request
   */
  static boolean isOptional(RequestHead head) {
    for (String path : FILES) {
      String target = head.target();
      if (target.startsWith(path)
          && (target.length() == path.length()
              || "/?".indexOf(target.charAt(path.length())) >= 0)) {
        return true;
      }
    }
    return false;
  }

  /** The reply to a request that names its model twice; engines would take the last name. */
  static Problem repeated() {
    return Problem.invalid(FIELD, FIELD + " must not be repeated");
  }

  /**
   * {@return why a request is refused for the models that its path and query name, whatever its
   * body names; null if it is not}
   *
   * @param head the request
   * @param answers the gateway's own answers
   */
  static @Nullable Problem problem(RequestHead head, OwnAnswers answers) {
    String target = head.target();
    int mark = target.indexOf('?');
    FormField field = mark < 0 ? null : field(target.substring(mark + 1));
    if (field != null && field.isRepeated()) {
      return repeated();
    }
    String inQuery = field == null ? null : orNull(field.value());
    String inPath = inPath(mark < 0 ? target : target.substring(0, mark));
    String hidden = isHidden(head, inQuery) ? inQuery : isHidden(head, inPath) ? inPath : null;
    return hidden == null ? null : answers.unknownModel(hidden, head.key());
  }

  private static boolean isHidden(RequestHead head, @Nullable String model) {
    return model != null && !head.allows(model);
  }

  private static @Nullable String inQuery(String query) {
    return orNull(field(query).value());
  }

  private static FormField field(String query) {
    FormField field = Objects.requireNonNull(FormField.of(FORM, FIELD));
    byte[] bytes = query.getBytes(StandardCharsets.UTF_8);
    field.feed(bytes, 0, bytes.length);
    field.end();
    return field;
  }

  private static @Nullable String inPath(String path) {
    for (String start : PATHS) {
      if (path.startsWith(start)) {
        int end = path.indexOf('/', start.length());
        String segment = path.substring(start.length(), end < 0 ? path.length() : end);
        return orNull(URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8));
      }
    }
    return null;
  }

  private static @Nullable String inHeaders(Headers headers) {
    for (String name : HEADERS) {
      String value = orNull(headers.get(name));
      if (value != null) {
        return value;
      }
    }
    return null;
  }

  /** {@return a name; null for an empty one} */
  static @Nullable String orNull(@Nullable String name) {
    return name == null || name.isBlank() ? null : name;
  }
}
