package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.hash.BlockHashes;

/**
 * A request with its block hashes and its matches at one moment.
 *
 * @param request the request
 * @param hashes the hashes of its full blocks
 * @param matches leading blocks that the ranks hold
 */
record MatchedRequest(FleetRequest request, BlockHashes hashes, RankMatches matches) {}
