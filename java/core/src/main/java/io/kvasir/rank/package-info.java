/**
 * What is known of ranks' load.
 *
 * <p>Of ranks in our own processes: the ledger of the requests that a rank holds. Executors write
 * it, routers read the {@link io.kvasir.model.RankState}s made from it.
 *
 * <p>Of ranks in others: {@link io.kvasir.rank.ActiveSequences} predict it from what was placed,
 * and {@link io.kvasir.rank.ReplicatedLoads} from what other routers say that they have placed.
 *
 * <p>The package knows nothing of pools, of how requests run, and of how messages travel.
 */
package io.kvasir.rank;
