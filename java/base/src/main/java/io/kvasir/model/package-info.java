/**
 * The values that travel between the other packages: requests, cache scopes, rank identities, rank
 * states and prefix matches.
 *
 * <p>Everything here is immutable or a plain table. It knows nothing of hashing, pools, routers or
 * executors, and imports no other package of Kvasir.
 */
package io.kvasir.model;
