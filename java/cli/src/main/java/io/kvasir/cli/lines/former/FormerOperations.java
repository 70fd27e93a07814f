package io.kvasir.cli.lines.former;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.cli.lines.fleet.RoutedRequests;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.router.booking.BookingRouter;
import io.kvasir.hash.NativeBlockHasher;
import java.io.IOException;
import java.util.List;

/**
 * The adapter of the operations by which fleet routers were driven before there was one dialect.
 * They stay, with the same answers, as long as conformance vectors use them:
 *
 * <pre>
 * kvasir route   configure with servers   configure with fleetRouter, then add_rank
 *                next                     route
 *                finish                   finish
 *                add_server               add_rank
 *                remove_server            remove_rank
 *                events                   event (TensorRT-LLM's kv_cache_events)
 *                prepare                  - (how a server names blocks, from its /server_info)
 * kvasir index   add_rank                 add_rank
 *                select                   route
 *                predict add              - (books a request without routing it)
 *                predict push             tokens
 *                predict prefillDone      tokens with prefillDone
 *                predict free             finish
 *                predict potential        explain
 *                poll                     - (every answer has the outcomes so far)
 * </pre>
 *
 * Not thread-safe.
 */
public sealed interface FormerOperations permits ServerOperations, RankOperations {

  /** The operations on servers, besides {@code configure}. */
  List<String> ON_SERVERS =
      List.of("next", "finish", "add_server", "remove_server", "events", "prepare");

  /** The operations on the ranks of an index. */
  List<String> ON_RANKS = List.of("predict", "add_rank", "select", "poll");

  /**
   * Makes a router and its servers.
   *
   * @param configure the policy, its args and its servers
   * @param limit bounds the work of a line
   * @return the operations on servers
   */
  static FormerOperations onServers(JsonNode configure, LineLimit limit) {
    return new ServerOperations(configure, limit);
  }

  /**
   * Takes the ranks of an index as those of a router.
   *
   * @param router the router
   * @param index what the ranks hold by their events
   * @param hasher how they name blocks
   * @param requests the requests of the router; closed by the caller
   * @param limit bounds the work of a line
   * @return the operations on the ranks
   */
  static FormerOperations onRanks(
      BookingRouter router,
      PrefixIndex index,
      NativeBlockHasher hasher,
      RoutedRequests requests,
      LineLimit limit) {
    return new RankOperations(router, index, hasher, requests, limit);
  }

  /**
   * Carries out an operation.
   *
   * @param op one of {@link #ON_SERVERS} or {@link #ON_RANKS}
   * @param line the operation
   * @param out receives the answer
   * @throws IOException if the output fails
   */
  void carryOut(String op, JsonNode line, JsonGenerator out) throws IOException;

  /** Closes the router that {@link #onServers} has made. */
  void close();
}
