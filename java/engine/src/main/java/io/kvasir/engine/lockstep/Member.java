package io.kvasir.engine.lockstep;

import java.util.ArrayList;
import java.util.List;

/**
 * One process of a worker and its ranks.
 *
 * <p>Immutable.
 *
 * @param index the member's index, from 0
 * @param firstRank its first rank
 * @param ranks number of its ranks, at least 1
 */
public record Member(int index, int firstRank, int ranks) {

  /**
   * The members of a worker. Ranks are numbered consecutively from member to member.
   *
   * @param ranks number of ranks of each member
   * @return the members in order
   * @throws IllegalArgumentException if there is no member, or a member has no rank
   */
  public static List<Member> of(int... ranks) {
    if (ranks.length == 0) {
      throw new IllegalArgumentException("a worker needs at least 1 member");
    }
    List<Member> members = new ArrayList<>();
    int firstRank = 0;
    for (int index = 0; index < ranks.length; index++) {
      if (ranks[index] < 1) {
        throw new IllegalArgumentException(
            "member " + index + " must have at least 1 rank, not " + ranks[index]);
      }
      members.add(new Member(index, firstRank, ranks[index]));
      firstRank = Math.addExact(firstRank, ranks[index]);
    }
    return List.copyOf(members);
  }

  /**
   * The members of a worker whose ranks are distributed evenly.
   *
   * @param members number of members
   * @param ranks ranks of the worker
   * @return the members in order; if the division has a remainder, the first members have one more
   *     rank
   * @throws IllegalArgumentException if there is no member, or more members than ranks
   */
  public static List<Member> evenly(int members, int ranks) {
    int[] counts = new int[Math.max(0, members)];
    for (int index = 0; index < members; index++) {
      counts[index] = ranks / members + (index < ranks % members ? 1 : 0);
    }
    return of(counts);
  }

  /**
   * Whether a rank belongs to this member.
   *
   * @param rank the rank's index in the worker
   * @return true if it does
   */
  public boolean has(int rank) {
    return rank >= firstRank && rank - firstRank < ranks;
  }

  /** For example {@code member 1 (ranks 4 to 7)}. */
  @Override
  public String toString() {
    return "member "
        + index
        + (ranks == 1
            ? " (rank " + firstRank + ")"
            : " (ranks " + firstRank + " to " + (firstRank + ranks - 1) + ")");
  }
}
