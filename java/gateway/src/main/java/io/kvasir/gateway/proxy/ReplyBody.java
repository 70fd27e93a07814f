package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.gateway.tokens.StoredTurns;
import io.netty.buffer.ByteBuf;
import java.net.ProtocolException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The body of a worker's reply on its way to the client: what is forwarded of it, and what is read
 * from it. Confined to the exchange's event loop.
 */
interface ReplyBody {

  /**
   * Chooses by the head of a reply.
   *
   * @param exchange the request, whose reply may have begun with an earlier attempt
   * @param choice the worker that answers
   * @param turns receives what is added to stored conversations
   * @param run receives the ids of stored responses
   * @return the body, before any of it has arrived
   */
  static ReplyBody of(
      Exchange exchange,
      Inbound inbound,
      ChosenTarget choice,
      int status,
      Headers headers,
      Tally tally,
      ReplyMemory memory,
      StoredTurns turns,
      ProxyRun run) {
    boolean served = status == 200 && inbound.endpoint().generates();
    ResponseReader response = null;
    if (inbound.endpoint() == Endpoint.RESPONSES) {
      response = new ResponseReader(turns, id -> run.onResponseId(choice, id));
      if (served) {
        response.keep(inbound, memory);
      }
    }
    ReplyReader reader =
        new ReplyReader(choice, tally, response, served ? run.first().onParams(choice) : null);
    String type = headers.get("content-type");
    if (served && type != null && type.toLowerCase(Locale.ROOT).startsWith("text/event-stream")) {
      return new EventBody(tally, reader, memory, inbound.injectsUsage());
    }
    if (exchange.replying()) { // with the comments of an earlier attempt
      return new StrayReply(inbound.endpoint(), choice.worker().name(), status, tally);
    }
    return new PlainBody(tally, reader, memory, served);
  }

  /**
   * A part has arrived.
   *
   * @param bytes the part; this call takes and releases it
   * @param nowNs the time of its arrival
   * @return the bytes to forward, which the caller owns; null for none yet
   * @throws ProtocolException if the body is not what its head announced
   * @throws NoRoomException if the budget has no room for what must be kept of it
   */
  @Nullable ByteBuf onBytes(ByteBuf bytes, long nowNs) throws ProtocolException;

  /**
   * The body is complete.
   *
   * @return bytes that are left to forward, or null
   */
  @Nullable ByteBuf onEnd();

  /** The budget of bodies is used up. */
  final class NoRoomException extends RuntimeException {

    private static final long serialVersionUID = 1;

    NoRoomException() {
      super("the budget of bodies has no room for a part of a reply", null, false, false);
    }
  }

  /** Whether it is a stream of events. */
  boolean isStream();

  /** Whether nothing but comments has arrived of a body that must have data. */
  boolean awaitsData();

  /**
   * The status of the first error that the engine has reported inside the body by its own fault; 0
   * if there is none.
   */
  int errorStatus();
}
