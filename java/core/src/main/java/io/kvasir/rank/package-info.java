/**
 * What is known of a rank's load: the ledger of the requests it holds. Executors write it, routers
 * read the {@link io.kvasir.model.RankState}s made from it. The package knows nothing of pools and
 * of how requests run.
 */
package io.kvasir.rank;
