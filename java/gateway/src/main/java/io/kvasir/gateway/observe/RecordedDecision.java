package io.kvasir.gateway.observe;

import java.util.Map;

/**
 * One choice of a worker and rank, and what came of it. It has no text, token, key or salt of the
 * request.
 *
 * <p>Thread-safe: the request's event loop writes the outcome, any thread reads it.
 */
public final class RecordedDecision {

  /** A worker serves the whole request. */
  public static final String WHOLE = "whole";

  /** A worker computes the prompt for another one. */
  public static final String PREFILL = "prefill";

  /** A worker answers with a prompt that another one has computed. */
  public static final String DECODE = "decode";

  private static final double NANOS_PER_MILLI = 1e6;

  private final long number;
  private final long atMs = System.currentTimeMillis();
  private final long atNs = System.nanoTime();
  private final Choice choice;
  private volatile int dpRank;
  private volatile long firstTokenNs;
  private volatile long promptTokens;
  private volatile long cachedTokens = -1;
  private volatile int status;
  private volatile String failure = "";

  /**
   * What was decided, and from what. Immutable.
   *
   * @param requestId the request's id in logs
   * @param endpoint the endpoint, for example {@code chat_completions}
   * @param model the model
   * @param leg the part of the request that is placed
   * @param attempt the number of the attempt, from 1
   * @param streams whether the answer streams
   * @param workerId the worker's name
   * @param dpRank the rank; negative if the worker chooses
   * @param reason why, as logs name it
   * @param matchedTokens prompt tokens that the router expects in the rank's cache
   * @param promptTokens the prompt's tokens; negative if unknown
   * @param candidates ranks that the router chose from; 0 if no router chose
   * @param waitedMs time in the router's queue, in milliseconds
   * @param expectedFirstTokenMs time from the decision to the first token that the router expects,
   *     in milliseconds; NaN if it expects none
   * @param terms the terms of the choice's cost by name; empty if the router compares no costs
   */
  public record Choice(
      String requestId,
      String endpoint,
      String model,
      String leg,
      int attempt,
      boolean streams,
      String workerId,
      int dpRank,
      String reason,
      long matchedTokens,
      long promptTokens,
      int candidates,
      double waitedMs,
      double expectedFirstTokenMs,
      Map<String, Double> terms) {}

  RecordedDecision(long number, Choice choice) {
    this.number = number;
    this.choice = choice;
    this.dpRank = choice.dpRank();
    this.promptTokens = choice.promptTokens();
  }

  long number() {
    return number;
  }

  /**
   * The engine names the rank that serves the request.
   *
   * @param rank the rank
   */
  public void onRank(int rank) {
    dpRank = rank;
  }

  /**
   * The first data of the answer has arrived.
   *
   * @param nowNs the time, by {@link System#nanoTime}
   */
  public void onFirstToken(long nowNs) {
    firstTokenNs = Math.max(1, nowNs - atNs);
  }

  /**
   * The engine has stated its usage. Negative numbers are unknown.
   *
   * @param prompt the prompt's tokens
   * @param cached those that it took from its cache
   */
  public void onUsage(long prompt, long cached) {
    promptTokens = prompt >= 0 ? prompt : promptTokens;
    cachedTokens = cached;
  }

  /**
   * The attempt has failed.
   *
   * @param reason why, as metrics name it
   */
  public void onFailed(String reason) {
    failure = reason;
  }

  /**
   * The request is over.
   *
   * @param httpStatus the status of its reply
   */
  public void onOver(int httpStatus) {
    status = httpStatus;
  }

  /** {@return when it was made, in milliseconds since 1970} */
  public long atMs() {
    return atMs;
  }

  /** {@return what was decided} */
  public Choice choice() {
    return choice;
  }

  /** {@return the rank that serves the request; negative if that is not known} */
  public int dpRank() {
    return dpRank;
  }

  /** {@return time to the first data of the answer, in milliseconds; NaN while there is none} */
  public double firstTokenMs() {
    long ns = firstTokenNs;
    return ns == 0 ? Double.NaN : ns / NANOS_PER_MILLI;
  }

  /**
   * {@return the prompt's tokens, by the engine's usage if it has stated them; negative if unknown}
   */
  public long promptTokens() {
    return promptTokens;
  }

  /** {@return cached tokens by the engine's usage; negative while it has stated none} */
  public long cachedTokens() {
    return cachedTokens;
  }

  /** {@return the status of the request's reply; 0 while it goes on} */
  public int status() {
    return status;
  }

  /** {@return why the attempt has failed; empty if it has not} */
  public String failure() {
    return failure;
  }
}
