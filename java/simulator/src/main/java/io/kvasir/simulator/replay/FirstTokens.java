package io.kvasir.simulator.replay;

import io.kvasir.model.Digest64;
import io.kvasir.model.Request;
import it.unimi.dsi.fastutil.longs.LongArrayList;

/**
 * The time to first token of each request of a replay, and the conversation of the request. A
 * request without a conversation is one of its own.
 *
 * <p>Complete, and then not modified, when the replay has ended.
 */
public final class FirstTokens {

  private final LongArrayList conversations = new LongArrayList();
  private final LongArrayList times = new LongArrayList();

  FirstTokens() {}

  void add(Request request, long ns) {
    String conversation = request.conversationId();
    conversations.add(
        conversation == null
            ? Digest64.fold(Digest64.EMPTY, request.id())
            : Digest64.fold(Digest64.EMPTY, conversation));
    times.add(ns);
  }

  /** {@return the number of requests that got a token} */
  public int size() {
    return times.size();
  }

  /**
   * {@return a number that the requests of one conversation share, the same in every replay}
   *
   * @param index index of a first token, in the order in which they came
   */
  public long conversation(int index) {
    return conversations.getLong(index);
  }

  /**
   * {@return the modelled nanoseconds from the request's arrival to its first token}
   *
   * @param index index of a first token, in the order in which they came
   */
  public long ns(int index) {
    return times.getLong(index);
  }
}
