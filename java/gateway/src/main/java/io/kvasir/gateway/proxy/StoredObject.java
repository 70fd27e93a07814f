package io.kvasir.gateway.proxy;

import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.model.Errors;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A response, file or batch that one engine keeps, as requests name it. Immutable.
 *
 * @param collection the path before its id, with a slash at the end
 * @param id its id, which an engine has given it
 */
record StoredObject(String collection, String id) {

  private static final String RESPONSES = "/v1/responses/";
  private static final String FILES = "/v1/files/";
  private static final List<String> COLLECTIONS = List.of(RESPONSES, FILES, "/v1/batches/");

  /** What is computed under the path of responses, for which any worker will do. */
  private static final Set<String> COMPUTED = Set.of("compact", "input_tokens", "render");

  private static final Pattern ID = Pattern.compile("[A-Za-z0-9._~-]{1,256}");

  /** The object that a path names, itself or a part of it; null if it names none. */
  static @Nullable StoredObject of(String path) {
    for (String collection : COLLECTIONS) {
      if (path.startsWith(collection)) {
        int end = path.indexOf('/', collection.length());
        String id = path.substring(collection.length(), end < 0 ? path.length() : end);
        boolean computed = end < 0 && collection.equals(RESPONSES) && COMPUTED.contains(id);
        return computed ? null : new StoredObject(collection, id);
      }
    }
    return null;
  }

  /**
   * The object that a body names: the response that it continues, the file of a batch, or the first
   * file of an input; null if it names none. O(bytes of the input).
   *
   * @param files whether files count
   */
  static @Nullable StoredObject of(Endpoint endpoint, BodyScan body, boolean files) {
    String response = body.previousResponseId();
    if (response != null || !files) {
      return response == null ? null : new StoredObject(RESPONSES, response);
    }
    String file =
        switch (endpoint) {
          case RESPONSES -> body.firstInputFile();
          case OTHER -> body.inputFileId();
          default -> null;
        };
    return file == null ? null : new StoredObject(FILES, file);
  }

  /** Whether it is a response, which workers can be asked for by id only. */
  boolean isResponse() {
    return collection.equals(RESPONSES);
  }

  /** Whether a request to this path would change the object itself, which no API can. */
  boolean isPost(String method, String path) {
    return isResponse() && method.equals("POST") && path.equals(target());
  }

  /** Whether an engine may have given it its id. */
  boolean hasProperId() {
    return ID.matcher(id).matches();
  }

  /** The path of the object itself. */
  String target() {
    return collection + id;
  }

  /** The reply where no worker keeps it. */
  Problem notFound() {
    return Problem.notFound(
        "response_not_found",
        "response_id",
        "no worker is known to hold the response '" + Errors.shown(id) + "'");
  }

  /** The reply to {@link #isPost}. */
  Problem noSuchPath() {
    return Problem.notFound(
        "not_found",
        null,
        "no such path: "
            + Errors.shown(target())
            + "; POST makes a response at /v1/responses, and ends one at /v1/responses/ID/cancel");
  }
}
