package io.kvasir.gateway.zmtp;

import java.io.IOException;

/** A peer breaks the protocol or a bound, which costs it the connection. */
sealed class ZmtpException extends IOException permits ZmtpVersionException {

  private static final long serialVersionUID = 1L;

  /** Says what the peer has done, to follow the words "the peer". */
  ZmtpException(String message) {
    super(message);
  }
}
