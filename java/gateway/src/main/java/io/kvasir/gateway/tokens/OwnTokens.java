package io.kvasir.gateway.tokens;

import io.kvasir.exchange.EventLoop;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
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

  /**
   * Finds the tokens of a request.
   *
   * @param body the request as JSON
   * @param loop the event loop, which is the current thread
   * @param timeoutMs how long its tokens may take
   * @param engine asks the engine, and passes on what that comes to, on the loop
   * @param otherwise the estimate of a request whose tokens cannot be made in time
   * @param then receives the tokens once, on the loop
   */
  void ask(
      String path,
      byte[] body,
      EventLoop loop,
      long timeoutMs,
      Consumer<Consumer<PromptTokens>> engine,
      PromptTokens otherwise,
      Consumer<PromptTokens> then) {
    TokenParity parity = parities.computeIfAbsent(path, TokenParity::new);
    TokenParity.Mode mode = parity.next();
    if (mode == TokenParity.Mode.ASK) {
      engine.accept(then);
      return;
    }
    Both both = new Both(parity, mode == TokenParity.Mode.OWN, otherwise, then);
    boolean makes = tokens.make(path, body, ids -> loop.execute(() -> both.onOwn(ids)));
    if (makes) {
      both.limit(loop.after(timeoutMs, () -> both.onOwn(null)));
    }
    if (mode == TokenParity.Mode.BOTH) {
      engine.accept(both::onEngine);
    }
    if (!makes) {
      both.onOwn(null);
    }
  }

  /** One request. Confined to its event loop. */
  private final class Both {

    private final TokenParity parity;
    private final PromptTokens otherwise;
    private final Consumer<PromptTokens> then;
    private int @Nullable [] own;
    private boolean ownIsOver;
    private @Nullable PromptTokens ofEngine;
    private boolean engineIsOver;
    private boolean passed;
    private EventLoop.@Nullable Timer limit;

    Both(TokenParity parity, boolean alone, PromptTokens otherwise, Consumer<PromptTokens> then) {
      this.parity = parity;
      this.engineIsOver = alone;
      this.otherwise = otherwise;
      this.then = then;
    }

    /** Its own tokens were not made within this call. */
    void limit(EventLoop.Timer timer) {
      limit = timer;
    }

    void onOwn(int @Nullable [] ids) {
      if (!ownIsOver) {
        ownIsOver = true;
        if (limit != null) {
          limit.cancel();
        }
        own = ids;
        settle();
      }
    }

    void onEngine(PromptTokens found) {
      engineIsOver = true;
      ofEngine = found;
      settle();
    }

    private void settle() {
      List<int[]> engine = ofEngine == null ? null : ofEngine.ids();
      if (engine != null) {
        pass(ofEngine);
        if (own != null && engine.size() == 1) {
          compare(own, engine.get(0));
        }
      } else if (engineIsOver && own != null) {
        pass(PromptTokens.given(List.of(own)));
      } else if (engineIsOver && ownIsOver) {
        pass(ofEngine == null ? otherwise : ofEngine);
      }
    }

    private void pass(@Nullable PromptTokens found) {
      if (!passed && found != null) {
        passed = true;
        then.accept(found);
      }
    }

    private void compare(int[] mine, int[] engine) {
      int at = Arrays.mismatch(mine, engine);
      if (at < 0) {
        parity.onEqual();
        return;
      }
      String where =
          "token %d of %d, in %s"
              .formatted(at, engine.length, tokens.place(mine, Math.min(at, mine.length)));
      if (parity.onDifference(where)) {
        LOG.warn(
            "model {}: the tokens of {} by {} differ from the engine's at {}: the engine is asked"
                + " from now on",
            model,
            parity.path(),
            tokens.name(),
            where);
      }
    }
  }
}
