package io.kvasir.embedded.api;

import io.kvasir.exchange.Headers;
import io.kvasir.exchange.UpstreamFailure;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * Turns the events of a request's sequences into its reply. The head waits for the first token, so
 * that it can name the rank and so that earlier failures have their own status.
 *
 * <p>Confined to the request's event loop.
 */
public final class AnswerCall implements SequenceListener {

  private final Incoming request;
  private final Call call;
  private final AnswerFormat format;
  private final boolean streamed;
  private final List<ReplyChoice> choices;
  private final Runnable cancelSequences;
  private final EventStream out = new EventStream();
  private int unfinished;
  private boolean begun;

  /**
   * Creates it.
   *
   * @param choices all choices of the reply
   * @param cancelSequences cancels all sequences of the request
   */
  public AnswerCall(
      Incoming request,
      AnswerFormat format,
      boolean streamed,
      List<ReplyChoice> choices,
      Runnable cancelSequences) {
    this.request = request;
    this.call = request.call();
    this.format = format;
    this.streamed = streamed;
    this.choices = choices;
    this.cancelSequences = cancelSequences;
    this.unfinished = choices.size();
    call.onCancel(cancelSequences);
  }

  @Override
  public Executor loop() {
    return call.loop();
  }

  @Override
  public void onStarted(int choice, Start start) {
    choices.get(choice).start(start);
  }

  @Override
  public void onToken(int number) {
    if (call.ended()) {
      return;
    }
    ReplyChoice choice = choices.get(number);
    String text = choice.addToken();
    if (streamed) {
      begin(choice);
      if (!text.isEmpty()) {
        format.piece(out, choice, text);
      }
    }
  }

  private void begin(ReplyChoice choice) {
    if (!begun) {
      begun = true;
      call.head(
          200,
          placed(request.replyHeaders("text/event-stream; charset=utf-8"), choice)
              .add("cache-control", "no-cache"));
      format.begin(out, choices);
    }
  }

  /** Adds the placement of a choice. */
  private static Headers placed(Headers headers, ReplyChoice choice) {
    Start start = choice.start();
    return start == null
        ? headers
        : headers
            .add("x-kvasir-dp-rank", String.valueOf(start.rank()))
            .add("x-kvasir-matched-tokens", String.valueOf(start.matchedTokens()))
            .add("x-kvasir-reason", start.reason());
  }

  @Override
  public void onFinished(int number) {
    if (call.ended()) {
      return;
    }
    unfinished--;
    if (streamed) {
      format.finish(out, choices.get(number));
    }
    if (unfinished > 0) {
      return;
    }
    if (streamed) {
      format.end(out, choices);
      endStream();
    } else {
      call.reply(
          200, placed(request.jsonHeaders(), choices.get(0)), Json.bytes(format.whole(choices)));
    }
  }

  private void endStream() {
    flush();
    call.end();
  }

  @Override
  public void onFailed(ApiError error) {
    if (call.ended()) {
      return;
    }
    cancelSequences.run();
    if (begun) {
      format.error(out, error);
      endStream();
    } else {
      call.reply(error.status(), request.jsonHeaders(), Json.bytes(format.error(error)));
    }
  }

  @Override
  public void onAborted(UpstreamFailure failure) {
    call.abort(failure);
  }

  @Override
  public void flush() {
    if (!out.isEmpty()) {
      call.chunk(out.take());
    }
  }
}
