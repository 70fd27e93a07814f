package io.kvasir.gateway.disagg;

import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.route.FleetWorker;
import org.jspecify.annotations.Nullable;

/**
 * One way of a prompt's KV blocks from the worker that computes them to the one that answers.
 * Immutable.
 *
 * @param id names it, unique among all gateways of the deployment; at least 2^42; where the request
 *     has several answers, as many numbers from this one on are its own
 * @param requestId the request's id at engines
 * @param path the endpoint, for example {@code /v1/completions}
 * @param body the client's request
 * @param conversationId the request's conversation; null if it names none
 * @param prefill the worker that computes the prompt
 * @param prefillRank its rank; negative if the worker chooses
 * @param peer what the second leg must say of it
 * @param earlier the parameters by which it has the KV of the conversation's last answer, as JSON;
 *     null for none
 */
public record Transfer(
    long id,
    String requestId,
    String path,
    BodyScan body,
    @Nullable String conversationId,
    FleetWorker prefill,
    int prefillRank,
    PeerFacts peer,
    @Nullable String earlier) {

  /** {@return a request id of both engines' own: clients can repeat the ids of their requests} */
  String legId() {
    return requestId + "-" + Long.toHexString(id);
  }

  /** {@return the transfer without the KV of an earlier answer} */
  public Transfer withoutEarlier() {
    return new Transfer(
        id, requestId, path, body, conversationId, prefill, prefillRank, peer, null);
  }
}
