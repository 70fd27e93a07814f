package io.kvasir.route;

import io.kvasir.rank.RankLedger;

/**
 * Wrong on purpose: a router has its hands on what only executors write.
 *
 * @param ledger what it may not write
 */
public record RouterThatBooks(RankLedger ledger) {}
