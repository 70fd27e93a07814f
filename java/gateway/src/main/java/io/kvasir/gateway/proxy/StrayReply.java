package io.kvasir.gateway.proxy;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A reply that is no stream, for a client that has received the head of one: an earlier attempt
 * sent comments and failed before its first data. It becomes the event that ends the stream: the
 * engine's own error, or one that names its status.
 *
 * <p>Confined to the exchange's event loop.
 */
final class StrayReply implements ReplyBody {

  /** Most bytes of an engine's error that are passed on. */
  private static final int MAX_BYTES = 64 << 10;

  private static final int BAD_REQUEST = 400;
  private static final JsonFactory JSON = new JsonFactory();

  private final Endpoint endpoint;
  private final String worker;
  private final int status;
  private final Tally tally;
  private final ByteBuf kept = Unpooled.buffer();

  /**
   * Begins with nothing.
   *
   * @param endpoint the endpoint, which decides the event's shape
   * @param worker the worker's name
   * @param status the reply's status
   * @param tally counts the error
   */
  StrayReply(Endpoint endpoint, String worker, int status, Tally tally) {
    this.tally = tally;
    this.endpoint = endpoint;
    this.worker = worker;
    this.status = status;
  }

  @Override
  public @Nullable ByteBuf onBytes(ByteBuf bytes, long nowNs) {
    if (kept.readableBytes() + bytes.readableBytes() <= MAX_BYTES) {
      kept.writeBytes(bytes);
    } else {
      kept.clear().writeZero(1); // no JSON
    }
    bytes.release();
    return null;
  }

  @Override
  public ByteBuf onEnd() {
    tally.onError("the worker that took over answered with status " + status + " and no stream");
    String text = kept.toString(StandardCharsets.UTF_8);
    if (status < BAD_REQUEST || !isObject(text)) {
      return Replies.errorEvent(
          endpoint,
          Problem.of(
              502, "upstream_error", "worker " + worker + " answered with status " + status));
    }
    String line = text.replace('\n', ' ').replace('\r', ' ');
    String name = Replies.isAnthropic(endpoint) ? "event: error\n" : "";
    return Unpooled.wrappedBuffer(
        (name + "data: " + line + "\n\n").getBytes(StandardCharsets.UTF_8));
  }

  private static boolean isObject(String text) {
    try (JsonParser json = JSON.createParser(text)) {
      boolean object = json.nextToken() == JsonToken.START_OBJECT;
      json.skipChildren();
      return object && json.nextToken() == null;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public boolean isStream() {
    return true;
  }

  @Override
  public boolean awaitsData() {
    return false;
  }

  @Override
  public int errorStatus() {
    return 0;
  }
}
