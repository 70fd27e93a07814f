package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.hash.BlockHashes;

/**
 * A request with the names of its blocks and its matches at one moment.
 *
 * @param request the request
 * @param hashes the names of its full blocks, by its tokens or by its text; of its first prompt, if
 *     it has several
 * @param blocks how many of them count
 * @param matches leading blocks that the ranks hold, of all its prompts together
 */
record MatchedRequest(FleetRequest request, BlockHashes hashes, int blocks, RankMatches matches) {}
