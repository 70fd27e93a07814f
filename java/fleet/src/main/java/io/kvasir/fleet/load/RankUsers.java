package io.kvasir.fleet.load;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * How many requests of each rank use something. Most things are used on one rank, whose count then
 * stands alone; with a second rank there is a count for every rank. Not thread-safe. O(1) where
 * nothing else is said.
 */
final class RankUsers {

  /** Ranks with users. */
  private int ranks;

  /** The only rank with users, if there is one. */
  private int soleRank;

  private int soleUsers;

  /** Users by rank, if there are two ranks or more; else null. */
  private int @Nullable [] users;

  boolean isEmpty() {
    return ranks == 0;
  }

  /** Users of a rank that has at least one. */
  int count(int rank) {
    return users == null ? soleUsers : users[rank];
  }

  /** One user more; true if it is the rank's first. O(ranks) if it makes the rank the second. */
  boolean add(int rank) {
    if (users == null) {
      if (ranks == 0) {
        ranks = 1;
        soleRank = rank;
        soleUsers = 1;
        return true;
      }
      if (rank == soleRank) {
        soleUsers++;
        return false;
      }
      users = new int[Math.max(rank, soleRank) + 1];
      users[soleRank] = soleUsers;
    } else if (rank >= users.length) {
      users = Arrays.copyOf(users, rank + 1 + (rank >> 1));
    }
    boolean first = users[rank]++ == 0;
    ranks += first ? 1 : 0;
    return first;
  }

  /** One user less; true if it was the rank's last. O(ranks) if it leaves one rank alone. */
  boolean remove(int rank) {
    if (users == null) {
      ranks = --soleUsers == 0 ? 0 : 1;
      return ranks == 0;
    }
    if (--users[rank] > 0) {
      return false;
    }
    if (--ranks == 1) {
      soleRank = 0;
      while (users[soleRank] == 0) {
        soleRank++;
      }
      soleUsers = users[soleRank];
      users = null;
    }
    return true;
  }

  /** Adds an amount for each rank with users; there is room for all of them. O(ranks). */
  void addTo(int[] byRank, int amount) {
    if (users == null) {
      byRank[soleRank] += ranks * amount;
      return;
    }
    int limit = Math.min(users.length, byRank.length);
    for (int rank = 0; rank < limit; rank++) {
      byRank[rank] += users[rank] > 0 ? amount : 0;
    }
  }

  /** The same users. O(ranks). */
  RankUsers copy() {
    RankUsers copy = new RankUsers();
    copy.ranks = ranks;
    copy.soleRank = soleRank;
    copy.soleUsers = soleUsers;
    copy.users = users == null ? null : users.clone();
    return copy;
  }
}
