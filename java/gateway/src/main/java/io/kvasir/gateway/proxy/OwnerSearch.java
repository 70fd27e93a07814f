package io.kvasir.gateway.proxy;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Headers;
import io.kvasir.gateway.keys.Credentials;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.worker.EngineQuestion;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Asks the workers which of them keeps a stored object, all at once: a gateway that was restarted
 * does not know. The client's credentials go with the question. Confined to an event loop.
 */
final class OwnerSearch {

  private static final JsonFactory JSON = new JsonFactory();
  private static final int OK = 200;
  private static final int MAX_REPLY_BYTES = 4 << 20;
  private static final long TIMEOUT_MS = 5_000;

  private final StoredObject object;
  private final Consumer<Result> then;
  private int open;
  private boolean complete;
  private boolean refused;
  private boolean over;

  /**
   * What a search has found.
   *
   * @param holder the worker that keeps the object; null if none was found
   * @param complete whether all workers have answered
   * @param refused whether a worker did not accept the client's credentials
   */
  record Result(@Nullable FleetWorker holder, boolean complete, boolean refused) {}

  private OwnerSearch(StoredObject object, int open, boolean complete, Consumer<Result> then) {
    this.object = object;
    this.open = open;
    this.complete = complete;
    this.then = then;
  }

  /**
   * Begins.
   *
   * @param workers those that may keep the object; the ones that are not healthy are not asked
   * @param object what is looked for; its id is a proper one
   * @param client the fields of the client's request
   * @param loop the event loop, which is the current thread
   * @param then receives the result, on the loop
   */
  static void begin(
      List<FleetWorker> workers,
      StoredObject object,
      Headers client,
      EventLoop loop,
      Consumer<Result> then) {
    List<FleetWorker> asked = workers.stream().filter(FleetWorker::healthy).toList();
    if (asked.isEmpty()) {
      then.accept(new Result(null, false, false));
      return;
    }
    Headers fields = new Headers();
    Credentials.FIELDS.forEach(name -> client.all(name).forEach(value -> fields.add(name, value)));
    boolean all = asked.size() == workers.size();
    OwnerSearch search = new OwnerSearch(object, asked.size(), all, then);
    for (FleetWorker worker : asked) {
      EngineQuestion.get(
          worker.upstream(),
          object.target(),
          fields,
          loop,
          MAX_REPLY_BYTES,
          TIMEOUT_MS,
          (status, body) -> search.onAnswer(worker, status, body));
    }
  }

  private void onAnswer(FleetWorker worker, int status, byte[] body) {
    open--;
    complete &= EngineQuestion.isAnswer(status);
    refused |= EngineQuestion.isRefused(status);
    boolean holds =
        status == EngineQuestion.TOO_LARGE || (status == OK && object.id().equals(id(body)));
    if (!over && (holds || open == 0)) {
      over = true;
      then.accept(new Result(holds ? worker : null, complete, refused));
    }
  }

  /** The member {@code id} of an object; null if there is none. */
  private static @Nullable String id(byte[] body) {
    try (JsonParser parser = JSON.createParser(body)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return null;
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        boolean isId = parser.currentName().equals("id");
        if (parser.nextToken() == JsonToken.VALUE_STRING && isId) {
          return parser.getText();
        }
        parser.skipChildren();
      }
    } catch (IOException e) {
      return null; // no answer about an object
    }
    return null;
  }
}
