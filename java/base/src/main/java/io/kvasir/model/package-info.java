/**
 * The values that the other packages exchange: requests, cache scopes and rank identities, and the
 * checks and digests that every package needs.
 *
 * <p>Everything here is immutable or stateless. The package imports no other package of Kvasir.
 */
@NullMarked
package io.kvasir.model;

import org.jspecify.annotations.NullMarked;
