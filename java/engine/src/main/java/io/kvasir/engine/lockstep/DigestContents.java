package io.kvasir.engine.lockstep;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The contents of a member's digest, which members exchange when their digests differ.
 *
 * <p>Immutable.
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the arrays are never used
record DigestContents(
    Member member,
    long gather,
    String phase,
    long routerState,
    long history,
    long states,
    long[] ids,
    long[] contents,
    long[] matches,
    int[] ranks) {

  /** Bytes in front of the requests. */
  private static final int HEAD_BYTES = 40;

  static DigestContents read(Member member, ByteBuffer from) {
    requireBytes(member, from, HEAD_BYTES);
    String phase = Lockstep.Phase.name(from.getInt());
    long gather = from.getLong();
    long routerState = from.getLong();
    long history = from.getLong();
    long states = from.getLong();
    int size = from.getInt();
    requireBytes(member, from, (long) size * DecisionLog.REQUEST_BYTES);
    long[] ids = new long[size];
    long[] contents = new long[size];
    long[] matches = new long[size];
    int[] ranks = new int[size];
    for (int i = 0; i < size; i++) {
      ids[i] = from.getLong();
      contents[i] = from.getLong();
      matches[i] = from.getLong();
      ranks[i] = from.getInt();
    }
    return new DigestContents(
        member, gather, phase, routerState, history, states, ids, contents, matches, ranks);
  }

  private static void requireBytes(Member member, ByteBuffer from, long bytes) {
    if (bytes < 0 || bytes > from.remaining()) {
      throw new LockstepException(member + " sent truncated digest contents");
    }
  }

  /**
   * The first difference between this member and another, starting with the requests; null if there
   * is none.
   */
  @Nullable DivergenceException differenceTo(DigestContents other) {
    for (int i = 0; i < Math.min(ids.length, other.ids.length); i++) {
      String difference = requestDifference(other, i);
      if (difference != null) {
        return diverged(difference + statesDifference(other), true, ids[i]);
      }
    }
    if (ids.length != other.ids.length) {
      return ids.length > other.ids.length ? routedMore(other) : other.routedMore(this);
    }
    if (!statesDifference(other).isEmpty()) {
      return diverged("no request differs" + statesDifference(other), false, 0);
    }
    if (routerState != other.routerState) {
      return diverged(
          "router state differs (what the router keeps between calls, such as its cursor or its map"
              + " of conversations) between "
              + member
              + " and "
              + other.member,
          false,
          0);
    }
    if (gather != other.gather || !phase.equals(other.phase)) {
      return diverged(
          member
              + " is in gather "
              + gather
              + " for "
              + phase
              + ", "
              + other.member
              + " in gather "
              + other.gather
              + " for "
              + other.phase,
          false,
          0);
    }
    return history == other.history
        ? null
        : diverged(member + " and " + other.member + " have different histories", false, 0);
  }

  private DivergenceException routedMore(DigestContents fewer) {
    long id = ids[fewer.ids.length];
    return diverged(
        "request " + id + ": " + member + " routed it, " + fewer.member + " did not", true, id);
  }

  private @Nullable String requestDifference(DigestContents other, int i) {
    String request = "request " + ids[i] + ": ";
    String both = member + " and " + other.member;
    if (ids[i] != other.ids[i]) {
      return request
          + member
          + " routed it where "
          + other.member
          + " routed request "
          + other.ids[i];
    }
    if (contents[i] != other.contents[i]) {
      return request + both + " have different requests with this id";
    }
    if (matches[i] != other.matches[i]) {
      return request + both + " have different matches of it";
    }
    if (ranks[i] != other.ranks[i]) {
      return request
          + member
          + " "
          + placement(ranks[i])
          + ", "
          + other.member
          + " "
          + placement(other.ranks[i]);
    }
    return null;
  }

  private static String placement(int rank) {
    return rank < 0 ? "did not place it" : "placed it on rank " + rank;
  }

  private String statesDifference(DigestContents other) {
    return states == other.states
        ? ""
        : "; " + member + " and " + other.member + " have different states of the ranks";
  }

  private static DivergenceException diverged(String difference, boolean named, long requestId) {
    return new DivergenceException("the members have diverged: " + difference, named, requestId);
  }
}
