package io.kvasir.gateway.proxy;

import io.kvasir.gateway.openai.TransferParams;
import io.kvasir.gateway.openai.Usage;
import io.kvasir.gateway.openai.UsageSum;
import io.netty.buffer.ByteBuf;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Reads tokens and usage from a reply. Confined to the exchange's event loop. */
final class ReplyReader {

  private final ChosenTarget choice;
  private final Tally tally;
  private final @Nullable ResponseReader response;
  private final @Nullable Consumer<String> onParams;
  private final UsageSum usages = new UsageSum();

  /**
   * Begins with nothing read.
   *
   * @param response reads stored responses; null where replies are none
   * @param onParams receives the parameters of a transfer, which are then not the client's; null
   *     where they are
   */
  ReplyReader(
      ChosenTarget choice,
      Tally tally,
      @Nullable ResponseReader response,
      @Nullable Consumer<String> onParams) {
    this.choice = choice;
    this.tally = tally;
    this.response = response;
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

  /** The first event of a stream, or the one that ends an answer. */
  void onEvent(ByteBuf event) {
    if (response != null) {
      response.onEvent(event);
    }
  }

  /** A complete answer. */
  void onJson(ByteBuf answer) {
    if (response != null) {
      response.onJson(answer);
    }
  }
}
