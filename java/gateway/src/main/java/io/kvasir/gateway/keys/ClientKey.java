package io.kvasir.gateway.keys;

import org.jspecify.annotations.Nullable;

/**
 * A key as its file has it: by its digest, without the key itself. Immutable.
 *
 * @param id its public part, by which it is revoked
 * @param sha256 the SHA-256 of the whole key, 64 hexadecimal digits
 * @param name whose it is, in logs
 * @param tenant those whose keys count together in metrics and share cached blocks
 * @param limits what it may use
 * @param cacheSalt separates the cached blocks of the tenant from those of others; null if they are
 *     shared
 */
public record ClientKey(
    String id,
    String sha256,
    String name,
    String tenant,
    KeyLimits limits,
    @Nullable String cacheSalt) {

  @Override
  public String toString() {
    return name + " of " + tenant;
  }
}
