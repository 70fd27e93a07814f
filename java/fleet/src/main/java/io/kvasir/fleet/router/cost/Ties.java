package io.kvasir.fleet.router.cost;

/** Which of several ranks with the same lowest cost is chosen. */
public enum Ties {
  /** Drawn by the request's id, so equal histories give equal placements in every process. */
  DRAWN("drawn"),
  /** The one that was chosen least recently, so that prompts that no rank holds are spread. */
  IN_TURN("in_turn");

  private final String id;

  Ties(String id) {
    this.id = id;
  }

  /** {@return the name in settings} */
  public String id() {
    return id;
  }
}
