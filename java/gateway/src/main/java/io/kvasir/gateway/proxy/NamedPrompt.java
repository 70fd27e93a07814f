package io.kvasir.gateway.proxy;

import io.kvasir.fleet.record.ServedRequest.Form;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.Digest64;
import org.jspecify.annotations.Nullable;

/**
 * What a recording says of a prompt: the names of its blocks, no text and no tokens.
 *
 * @param form what blocks are of
 * @param tokensPerBlock tokens in a block
 * @param tokens number of tokens; of a text, four bytes to each
 * @param blocks names of the full blocks
 * @param conversation a digest of the conversation's id; null if it has none
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
record NamedPrompt(
    Form form, int tokensPerBlock, int tokens, long[] blocks, @Nullable String conversation) {

  /**
   * Names the blocks of a request, which its router has named already if it matches prompts.
   * O(bytes) otherwise.
   */
  static NamedPrompt of(FleetRequest request, int tokensPerBlock) {
    boolean tokenised = request.isTokenised();
    long[] names =
        (tokenised
                ? request.hashes(HashFormat.KVASIR, tokensPerBlock)
                : request.textHashes(tokensPerBlock))
            .sequence();
    String id = request.conversationId();
    return new NamedPrompt(
        tokenised ? Form.TOKENS : Form.TEXT,
        tokensPerBlock,
        Math.max(request.inputTokens(), names.length * tokensPerBlock), // may be an estimate
        names,
        id == null ? null : Long.toHexString(Digest64.fold(Digest64.EMPTY, id)));
  }
}
