package io.kvasir.embedded.disagg;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.api.ReplyExtras;
import io.kvasir.embedded.ranks.BlockHold;

/**
 * KV that a request leaves for another engine. Immutable.
 *
 * @param key names the transfer
 * @param leaseMs how long the blocks stay pinned, in milliseconds
 * @param answersAfterTransfer whether the reply waits for the end of the transfer
 * @param ofAnswer whether the KV of the answer is left too
 * @param params the field of requests that names the transfer, for errors
 * @param announcer makes what the reply says
 */
record KvDeparture(
    String key,
    long leaseMs,
    boolean answersAfterTransfer,
    boolean ofAnswer,
    String params,
    Announcer announcer) {

  /**
   * What was computed.
   *
   * @param hold its blocks
   * @param promptTokens tokens of the prompt
   * @param cachedTokens those that were in the pool before
   * @param outputTokens the tokens of the answer
   */
  @SuppressWarnings("ArrayRecordComponent") // not compared
  record Computed(BlockHold hold, int promptTokens, int cachedTokens, int[] outputTokens) {}

  /**
   * What a reply says.
   *
   * @param verbatim fields that the other engine must get unchanged
   * @param extras adds the fields to the reply
   */
  record Announcement(ObjectNode verbatim, ReplyExtras extras) {}

  /** Makes announcements, on the ranks' thread. */
  interface Announcer {
    Announcement announce(Computed computed);
  }
}
