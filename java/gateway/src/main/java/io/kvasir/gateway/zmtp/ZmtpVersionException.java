package io.kvasir.gateway.zmtp;

/** A peer speaks a version of the protocol that is not spoken here. */
final class ZmtpVersionException extends ZmtpException {

  private static final long serialVersionUID = 1L;

  /**
   * Says which.
   *
   * @param version the version, as its specification is named
   */
  ZmtpVersionException(String version) {
    super("speaks ZMTP " + version + ", and only ZMTP 3 (ZeroMQ 4) is spoken here");
  }
}
