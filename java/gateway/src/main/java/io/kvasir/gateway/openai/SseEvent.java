package io.kvasir.gateway.openai;

import io.netty.buffer.ByteBuf;

/**
 * One event of a streamed reply: its bytes, and what they mean to the OpenAI, Responses, Anthropic
 * and SGLang's own APIs. Made by {@link SseEvents}; confined to one thread.
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

  /** Answers with a greater index count as the first one. */
  private static final int MAX_INDEX = 1 << 16;

  private final ByteBuf bytes;
  private Kind kind = Kind.COMMENT;
  private int outputTokens;
  private boolean finished;
  private Usage usage = Usage.UNKNOWN;
  private int index;

  /** Whether the usage is that of the answer at {@link #index}. */
  private boolean ofOneAnswer;

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

  /**
   * {@return which of several answers states its {@link #usage}, from 0; 0 in APIs that state that
   * of all answers together}
   */
  public int index() {
    return ofOneAnswer ? index : 0;
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

  /** Adds the usage of one of several answers. */
  void addUsage(Usage value) {
    usage = usage.plus(value);
    ofOneAnswer = true;
  }

  /** Sets which answer the event is of; a negative number is none. */
  void setIndex(long value) {
    index = value < 0 || value > MAX_INDEX ? 0 : (int) value;
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
