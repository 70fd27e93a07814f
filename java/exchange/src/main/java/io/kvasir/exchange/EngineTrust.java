package io.kvasir.exchange;

import java.security.cert.X509Certificate;
import java.util.List;

/**
 * Which certificates of an engine are good. Immutable.
 *
 * @param authorities they must have signed it, for the engine's name; empty for those that Java
 *     trusts
 * @param isAny whether every certificate is accepted, regardless of its issuer and name
 */
public record EngineTrust(List<X509Certificate> authorities, boolean isAny) {

  /** Those that an authority has signed that Java trusts, for the engine's name. */
  public static final EngineTrust JAVA = new EngineTrust(List.of(), false);

  /** All. */
  public static final EngineTrust ANY = new EngineTrust(List.of(), true);

  /** Copies the list. */
  public EngineTrust {
    authorities = List.copyOf(authorities);
  }
}
