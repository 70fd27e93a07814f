package io.kvasir.gateway.openai;

import io.netty.buffer.ByteBuf;

/**
 * One event of a streamed reply: its bytes, and what they mean to the OpenAI, Responses and
 * Anthropic APIs. Made by {@link SseEvents}; confined to one thread.
 *
 * <p>An event that is not valid JSON has the meaning of the part before the damage.
 */
public final class SseEvent {

  /** What an event is. */
  public enum Kind {
    /** No data: comments, blank lines, and events that only keep the connection alive. */
    COMMENT,
    /** Data of any form. */
    DATA,
    /** The mark at the end of a complete stream: {@code [DONE]} or {@code message_stop}. */
    DONE,
    /** The engine reports an error. */
    ERROR
  }

  private final ByteBuf bytes;
  private Kind kind = Kind.COMMENT;
  private int outputTokens;
  private boolean finished;
  private Usage usage = Usage.UNKNOWN;
  private boolean valid;
  private boolean noChoices;
  private int cutFrom;
  private int cutTo;

  /**
   * Creates an event that means nothing yet.
   *
   * @param bytes its bytes
   */
  SseEvent(ByteBuf bytes) {
    this.bytes = bytes;
  }

  /**
   * {@return the event's bytes, up to and with its blank line}
   *
   * <p>The receiver of the event owns and releases them.
   */
  public ByteBuf bytes() {
    return bytes;
  }

  /** {@return what the event is} */
  public Kind kind() {
    return kind;
  }

  /**
   * {@return the output tokens that the event carries: those that it lists, or else 1 if it has any
   * text, reasoning or tool call, or else 0}
   */
  public int outputTokens() {
    return outputTokens;
  }

  /** {@return whether the event ends a choice, a message or a response: it has a finish reason} */
  public boolean finished() {
    return finished;
  }

  /** {@return the numbers of tokens that the event states} */
  public Usage usage() {
    return usage;
  }

  /** {@return whether the event's data is one valid JSON object} */
  boolean isValid() {
    return valid;
  }

  /** {@return whether the event is only there for its usage} */
  boolean isOnlyUsage() {
    return valid && noChoices && kind == Kind.DATA && !usage.equals(Usage.UNKNOWN);
  }

  /**
   * {@return the first byte of {@code "usage":null} and a comma, counted from the event's first}
   */
  int cutFrom() {
    return cutFrom;
  }

  /** {@return the byte after {@link #cutFrom}'s range, or 0 if there is nothing to cut} */
  int cutTo() {
    return cutTo;
  }

  void setKind(Kind value) {
    kind = value;
  }

  /** Adds tokens that the event lists. */
  void addTokens(int tokens) {
    outputTokens += tokens;
  }

  void setFinished() {
    finished = true;
  }

  void setUsage(Usage value) {
    usage = usage.then(value);
  }

  void setValid() {
    valid = true;
  }

  void setNoChoices() {
    noChoices = true;
  }

  void setCut(int from, int to) {
    cutFrom = from;
    cutTo = to;
  }
}
