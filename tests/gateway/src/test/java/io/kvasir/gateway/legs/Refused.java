package io.kvasir.gateway.legs;

/** A request that a stand-in does not serve. */
final class Refused extends RuntimeException {

  private static final long serialVersionUID = 1;

  private final int status;

  private Refused(int status, String reason) {
    super(reason);
    this.status = status;
  }

  /** A field is not as the protocol has it. */
  static Refused field(String reason) {
    return new Refused(400, reason);
  }

  /** KV has not come. */
  static Refused transfer(String reason) {
    return new Refused(500, reason);
  }

  int status() {
    return status;
  }
}
