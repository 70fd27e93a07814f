package io.kvasir.gateway.proxy;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.gateway.exchange.EventLoop;
import io.kvasir.gateway.exchange.Headers;
import io.kvasir.gateway.exchange.ReplyListener;
import io.kvasir.gateway.exchange.Upstream;
import io.kvasir.gateway.exchange.UpstreamCall;
import io.kvasir.gateway.exchange.UpstreamFailure;
import io.kvasir.gateway.exchange.UpstreamRequest;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.BodySplice;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.Unpooled;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Asks a worker for the tokens of a request's prompts: {@code POST /tokenize} of vLLM, one after
 * the other. The body of a chat is sent as it is, so that the worker renders what it would compute.
 *
 * <p>Confined to the request's event loop.
 */
final class PromptTokens implements ReplyListener {

  private static final JsonFactory JSON = new JsonFactory();
  private static final String TARGET = "/tokenize";

  private final Upstream upstream;
  private final EventLoop loop;
  private final Consumer<@Nullable List<int[]>> then;
  private final Deque<ByteBuf> bodies;
  private final List<int[]> tokens = new ArrayList<>();
  private ByteBuf answer = Unpooled.buffer();
  private @Nullable UpstreamCall call;
  private boolean good;

  private PromptTokens(
      Upstream upstream,
      EventLoop loop,
      Deque<ByteBuf> bodies,
      Consumer<@Nullable List<int[]>> then) {
    this.upstream = upstream;
    this.loop = loop;
    this.bodies = bodies;
    this.then = then;
  }

  /**
   * Asks.
   *
   * @param upstream the worker
   * @param loop the request's event loop, which is the current thread
   * @param inbound a request with a body
   * @param then receives the tokens of each prompt, or null if the worker gives none; runs once,
   *     later, unless the question is cancelled
   * @return cancels the question
   */
  static Runnable ask(
      Upstream upstream, EventLoop loop, Inbound inbound, Consumer<@Nullable List<int[]>> then) {
    PromptTokens question = new PromptTokens(upstream, loop, bodies(inbound), then);
    if (question.bodies.isEmpty()) {
      loop.execute(() -> then.accept(null));
    } else {
      question.next();
    }
    return question::cancel;
  }

  private static Deque<ByteBuf> bodies(Inbound inbound) {
    Deque<ByteBuf> bodies = new ArrayDeque<>();
    Prompt prompt = inbound.prompt();
    BodyScan body = inbound.body();
    if (inbound.endpoint() == Endpoint.CHAT_COMPLETIONS && body != null) {
      bodies.add(new BodySplice(body).build());
    } else if (prompt instanceof Prompt.Chat chat) {
      bodies.add(json(json -> writeMessages(json, chat)));
    } else if (prompt instanceof Prompt.Texts texts) {
      for (String text : texts.texts()) {
        bodies.add(json(json -> json.writeStringField("prompt", text)));
      }
    }
    return bodies;
  }

  /** Writes the fields of an object. */
  @FunctionalInterface
  private interface Fields {
    void write(JsonGenerator json) throws IOException;
  }

  private static ByteBuf json(Fields fields) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      json.writeStartObject();
      fields.write(json);
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Unpooled.wrappedBuffer(bytes.toByteArray());
  }

  private static void writeMessages(JsonGenerator json, Prompt.Chat chat) throws IOException {
    json.writeArrayFieldStart("messages");
    for (Prompt.Message message : chat.messages()) {
      json.writeStartObject();
      json.writeStringField("role", message.role());
      json.writeStringField("content", message.content());
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private void next() {
    ByteBuf body = bodies.poll();
    if (body == null) {
      then.accept(tokens);
      return;
    }
    Headers headers =
        new Headers()
            .add("content-type", "application/json")
            .add("content-length", Integer.toString(body.readableBytes()));
    answer = Unpooled.buffer();
    call = upstream.send(new UpstreamRequest("POST", TARGET, headers, body), this, loop);
  }

  private void cancel() {
    if (call != null) {
      call.cancel();
    }
  }

  @Override
  public void onHead(int status, Headers headers) {
    good = status == 200;
  }

  @Override
  public void onChunk(ByteBuf bytes) {
    answer.writeBytes(bytes);
    bytes.release();
  }

  @Override
  public void onEnd() {
    int[] read = good ? read(answer) : null;
    if (read == null) {
      then.accept(null);
    } else {
      tokens.add(read);
      next();
    }
  }

  @Override
  public void onAbort(UpstreamFailure failure) {
    then.accept(null);
  }

  /** The array {@code tokens} of an answer; null if there is none. */
  private static int @Nullable [] read(ByteBuf answer) {
    try (JsonParser parser = JSON.createParser((InputStream) new ByteBufInputStream(answer))) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return null;
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        boolean wanted = parser.currentName().equals("tokens");
        JsonToken value = parser.nextToken();
        if (wanted && value == JsonToken.START_ARRAY) {
          IntArrayList ids = new IntArrayList();
          while (parser.nextToken() != JsonToken.END_ARRAY) {
            ids.add(parser.getIntValue());
          }
          return ids.toIntArray();
        }
        parser.skipChildren();
      }
    } catch (IOException e) {
      return null; // the worker's answer to the request itself says what is wrong
    }
    return null;
  }
}
