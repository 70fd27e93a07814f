package io.kvasir.gateway.tokens;

import io.kvasir.gateway.route.FleetWorker;

/**
 * A maker of tokens from one start to the next. Within it, it has one tokenizer; after it, a model
 * of the same name can have another. Immutable.
 *
 * @param maker the maker
 * @param lives how often it had restarted
 */
record MakerLife(TokenMaker maker, long lives) {

  /** The life that a maker is in. */
  static MakerLife of(TokenMaker maker) {
    return new MakerLife(maker, maker.lives());
  }

  /** The life that a worker is in. */
  static MakerLife of(FleetWorker worker) {
    return of(new TokenMaker.Engine(worker));
  }

  /** Whether the maker has not restarted since. */
  boolean lasts() {
    return maker.lives() == lives;
  }
}
