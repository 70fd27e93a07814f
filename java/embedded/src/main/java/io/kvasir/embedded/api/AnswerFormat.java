package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * Writes the reply to one request in the form of one endpoint: as a whole, or as events.
 *
 * <p>Confined to the request's event loop.
 */
public interface AnswerFormat {

  /**
   * Lets the reply have further fields, in forms that have any.
   *
   * @param extras adds them
   */
  default void extend(ReplyExtras extras) {}

  /** The whole reply. */
  JsonNode whole(List<ReplyChoice> choices);

  /** Writes what precedes the first token. */
  void begin(EventStream out, List<ReplyChoice> choices);

  /** Writes the text of a token, which is not empty. */
  void piece(EventStream out, ReplyChoice choice, String text);

  /** Writes the end of a choice. */
  void finish(EventStream out, ReplyChoice choice);

  /** Writes what follows the last choice. */
  void end(EventStream out, List<ReplyChoice> choices);

  /** An error as the body of a reply. */
  JsonNode error(ApiError error);

  /** Writes an error within a stream that has begun. */
  void error(EventStream out, ApiError error);
}
