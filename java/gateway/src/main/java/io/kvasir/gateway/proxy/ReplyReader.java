package io.kvasir.gateway.proxy;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.kvasir.gateway.openai.TransferParams;
import io.kvasir.gateway.openai.Usage;
import io.kvasir.gateway.openai.UsageSum;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads tokens, usage and the id of a stored response from a reply. Confined to the exchange's
 * event loop.
 */
final class ReplyReader {

  private static final JsonFactory JSON = new JsonFactory();
  private static final ByteBuf DATA =
      Unpooled.unreleasableBuffer(
          Unpooled.wrappedBuffer("data:".getBytes(StandardCharsets.US_ASCII)));

  private final ChosenTarget choice;
  private final Tally tally;
  private final @Nullable Consumer<String> onResponseId;
  private final @Nullable Consumer<String> onParams;
  private final UsageSum usages = new UsageSum();

  /**
   * Begins with nothing read.
   *
   * @param onResponseId receives the id of a response; null where replies are no responses
   * @param onParams receives the parameters of a transfer, which are then not the client's; null
   *     where they are
   */
  ReplyReader(
      ChosenTarget choice,
      Tally tally,
      @Nullable Consumer<String> onResponseId,
      @Nullable Consumer<String> onParams) {
    this.choice = choice;
    this.tally = tally;
    this.onResponseId = onResponseId;
    this.onParams = onParams;
  }

  /** Whether parameters of a transfer are taken out of the reply. */
  boolean takesParams() {
    return onParams != null;
  }

  /** Takes parameters of a transfer out of an event or an answer, in writable memory. */
  void takeParams(ByteBuf json) {
    String params = onParams == null ? null : TransferParams.take(json);
    if (onParams != null && params != null) {
      onParams.accept(params);
    }
  }

  /** Output tokens have streamed. */
  void onTokens(int tokens) {
    if (tokens > 0) {
      tally.onTokens(tokens);
      choice.onTokens(tokens);
    }
  }

  /**
   * The engine states its usage, which corrects what was counted.
   *
   * @param index which of several answers has this usage
   */
  void onUsage(Usage stated, int index) {
    if (stated.equals(Usage.UNKNOWN)) {
      return;
    }
    Usage usage = usages.add(index, stated);
    long uncounted = usage.outputTokens() - tally.outputTokens();
    if (uncounted > 0) {
      choice.onTokens((int) uncounted);
    }
    tally.onUsage(usage.inputTokens(), usage.cachedTokens(), usage.outputTokens());
  }

  /** The first event of a stream. */
  void onEvent(ByteBuf event) {
    if (onResponseId != null) {
      int start = ByteBufUtil.indexOf(DATA, event);
      if (start >= 0) {
        int at = start + DATA.readableBytes();
        findId(event, at);
      }
    }
  }

  /** A complete answer. */
  void onJson(ByteBuf answer) {
    if (onResponseId != null) {
      findId(answer, answer.readerIndex());
    }
  }

  /** Finds the id of the outermost object, or of the object in its member {@code response}. */
  private void findId(ByteBuf json, int from) {
    byte[] bytes = ByteBufUtil.getBytes(json, from, json.writerIndex() - from);
    try (JsonParser parser = JSON.createParser(bytes)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return;
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        JsonToken value = parser.nextToken();
        if (name.equals("id") && value == JsonToken.VALUE_STRING && onResponseId != null) {
          onResponseId.accept(parser.getText());
          return;
        }
        if (!(name.equals("response") && value == JsonToken.START_OBJECT)) {
          parser.skipChildren();
        }
      }
    } catch (IOException e) {
      return; // an answer without an id that can be read is not stored
    }
  }
}
