package io.kvasir.gateway.tokens;

import io.kvasir.exchange.EventLoop;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tokens of one model that this process makes, as long as they are those of its engine. Where
 * no engine can be asked, they count unchecked; what engines store shows whether they are right.
 * Thread-safe.
 */
public final class OwnTokens {

  private static final Logger LOG = LoggerFactory.getLogger(OwnTokens.class);

  private final String model;
  private final ModelTokens tokens;
  private final Map<String, TokenParity> parities = new ConcurrentSkipListMap<>();

  /**
   * Begins without requests.
   *
   * @param model the model
   * @param tokens makes its tokens; remains the caller's
   */
  OwnTokens(String model, ModelTokens tokens) {
    this.model = model;
    this.tokens = tokens;
  }

  /** Whether tokens of an endpoint can be made. */
  boolean serves(String path) {
    return tokens.serves(path);
  }

  /** {@return the comparisons so far} */
  public Collection<TokenParity> parities() {
    return parities.values();
  }

  /** Asks the engine; the receiver gets its tokens, and whether they were asked for just now. */
  interface Engine {

    void ask(BiConsumer<PromptTokens, Boolean> then);
  }

  /**
   * Finds the tokens of a request.
   *
   * @param path the endpoint
   * @param body the request as JSON
   * @param doubted whether a worker's events contradict the tokens that were used
   * @param loop the event loop, which is the current thread
   * @param timeoutMs how long its tokens may take
   * @param engine asks the engine, and passes on the result, on the loop
   * @param then receives the tokens once, on the loop
   */
  void ask(
      String path,
      byte[] body,
      boolean doubted,
      EventLoop loop,
      long timeoutMs,
      Engine engine,
      Consumer<PromptTokens> then) {
    TokenParity parity = parities.computeIfAbsent(path, TokenParity::new);
    if (doubted && parity.onDoubt()) {
      LOG.warn(
          "model {}: what the engine stores contradicts the tokens of {} by {}: the engine is asked"
              + " from now on",
          model,
          path,
          tokens.name());
    }
    TokenParity.Mode mode = parity.next();
    if (mode == TokenParity.Mode.ASK) {
      engine.ask((found, fresh) -> then.accept(found));
      return;
    }
    Both both = new Both(parity, mode, engine, then);
    boolean makes = tokens.make(path, body, ids -> onLoop(loop, () -> both.onOwn(ids)));
    if (makes) {
      both.limit(loop.after(timeoutMs, () -> both.onOwn(null)));
    }
    if (mode != TokenParity.Mode.OWN) {
      both.askEngine();
    }
    if (!makes) {
      both.onOwn(null);
    }
  }

  /** The loop is closed when the gateway stops, while tokens may still be made. */
  private static void onLoop(EventLoop loop, Runnable action) {
    try {
      loop.execute(action);
    } catch (RejectedExecutionException e) {
      LOG.debug("tokens came after the gateway had stopped");
    }
  }

  /** One request. Confined to its event loop. */
  private final class Both {

    private final TokenParity parity;
    private final TokenParity.Mode mode;
    private final Engine engine;
    private final Consumer<PromptTokens> then;
    private @Nullable OwnPrompt own;
    private boolean ownIsOver;
    private @Nullable PromptTokens ofEngine;
    private boolean fresh;
    private boolean asks;
    private boolean passed;
    private EventLoop.@Nullable Timer limit;

    Both(TokenParity parity, TokenParity.Mode mode, Engine engine, Consumer<PromptTokens> then) {
      this.parity = parity;
      this.mode = mode;
      this.engine = engine;
      this.then = then;
    }

    void askEngine() {
      asks = true;
      engine.ask(this::onEngine);
    }

    /** Its own tokens were not made within this call. */
    void limit(EventLoop.Timer timer) {
      limit = timer;
    }

    void onOwn(@Nullable OwnPrompt made) {
      if (ownIsOver) {
        return;
      }
      ownIsOver = true;
      own = made;
      if (limit != null) {
        limit.cancel();
      }
      if (own != null && mode != TokenParity.Mode.BOTH) {
        pass(PromptTokens.given(List.of(own.ids())));
      }
      if (own == null && !asks) {
        askEngine();
      } else {
        settle();
      }
    }

    private void onEngine(PromptTokens found, boolean askedNow) {
      ofEngine = found;
      fresh = askedNow;
      settle();
    }

    private void settle() {
      PromptTokens found = ofEngine;
      if (found == null) {
        return; // the engine's answer is awaited, or its own tokens were passed on
      }
      if (found.ids() != null) {
        pass(found);
        if (own != null && fresh && found.ids().size() == 1) {
          compare(own, found.ids().get(0));
        }
      } else if (own != null) {
        pass(PromptTokens.given(List.of(own.ids())));
      } else if (ownIsOver) {
        pass(found);
      }
    }

    private void pass(PromptTokens found) {
      if (!passed) {
        passed = true;
        then.accept(found);
      }
    }

    private void compare(OwnPrompt made, int[] engine) {
      int[] mine = made.ids();
      int most = made.isExact() ? engine.length : Math.min(made.exact(), engine.length);
      int at = Arrays.mismatch(mine, 0, made.exact(), engine, 0, most);
      if (at < 0) {
        if (made.isExact()) {
          parity.onEqual();
        }
        return;
      }
      String where =
          "token %d of %d, in %s"
              .formatted(at, engine.length, tokens.place(mine, Math.min(at, mine.length)));
      if (parity.onDifference(where)) {
        LOG.warn(
            "model {}: the tokens of {} by {} differ from the engine's in {} requests, first at {}:"
                + " the engine is asked from now on",
            model,
            parity.path(),
            tokens.name(),
            TokenParity.MOST_DIFFERENCES,
            parity.difference());
      }
    }
  }
}
