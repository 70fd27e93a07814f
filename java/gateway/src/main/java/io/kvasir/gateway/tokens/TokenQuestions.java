package io.kvasir.gateway.tokens;

import io.kvasir.exchange.EventLoop;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.PromptSource;
import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.InexactCause;
import io.kvasir.gateway.route.Renderer;
import io.kvasir.gateway.worker.EngineQuestion;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the tokens of prompts: in the request, among earlier answers, or by asking a worker or its
 * renderer. Equal questions to one of them at the same time are asked once. A question that fails
 * leaves an estimate, and never fails the request.
 *
 * <p>Answers of one worker serve requests to all of its family, until it recovers: another engine
 * can be behind its URL then.
 *
 * <p>Thread-safe.
 */
public final class TokenQuestions {

  private static final Logger LOG = LoggerFactory.getLogger(TokenQuestions.class);
  private static final int MAX_ANSWER_BYTES = 64 << 20;

  /** The largest body whose copy is sent to a worker. */
  private static final int MAX_BODY_BYTES = 4 << 20;

  private static final int UNAUTHORIZED = 401;
  private static final int FORBIDDEN = 403;

  /** Prompts of one request for which a worker is asked. */
  static final int MAX_PROMPTS = 16;

  private final long timeoutMs;
  private final LongSupplier clockNs;
  private final TokenCache cache;
  private final Map<FlightKey, TokenFlight> flights = new ConcurrentHashMap<>();
  private final Map<TokenMaker, AbsentWays> absent = new ConcurrentHashMap<>();
  private final Map<String, OwnTokens> own = new TreeMap<>();
  private final StoredTurns turns = new StoredTurns();

  /** A question to a worker or a renderer. */
  private record FlightKey(TokenCache.Key question, MakerLife asked) {}

  /**
   * Begins without answers.
   *
   * @param timeoutMs limit for the answers that one request needs, in milliseconds
   * @param maxCachedBytes bytes of answers that are kept
   * @param models what makes tokens in this process, by model; remains the caller's
   * @param clockNs the time by which ways rest that fail or are lacking, in nanoseconds
   */
  public TokenQuestions(
      long timeoutMs, long maxCachedBytes, Map<String, ModelTokens> models, LongSupplier clockNs) {
    this.timeoutMs = timeoutMs;
    this.clockNs = clockNs;
    this.cache = new TokenCache(maxCachedBytes);
    models.forEach((model, tokens) -> own.put(model, new OwnTokens(model, tokens)));
  }

  /**
   * {@return the tokens of a model that this process makes; null if it makes none}
   *
   * @param model the model
   */
  public @Nullable OwnTokens own(String model) {
    return own.get(model);
  }

  /** {@return the stored conversations, which requests continue by the id of a response} */
  public StoredTurns turns() {
    return turns;
  }

  /** What is asked for a request, made of its body. Immutable. */
  public static final class Prepared {

    private final FleetWorker worker;
    private final TokenRequest request;
    private final @Nullable PromptTokens known;
    private final List<TokenStep> steps;

    /** The request as JSON, if its tokens can be made here. */
    private final byte @Nullable [] whole;

    private Prepared(
        FleetWorker worker,
        TokenRequest request,
        @Nullable PromptTokens known,
        List<TokenStep> steps,
        byte @Nullable [] whole) {
      this.worker = worker;
      this.request = request;
      this.known = known;
      this.steps = steps;
      this.whole = whole;
    }
  }

  /**
   * Reads the tokens that a request has, or makes the questions for them. O(bytes); any thread may
   * call it.
   *
   * @param worker the worker to ask, if need be
   * @param request the request
   * @return what {@link #ask} needs
   */
  public Prepared prepare(FleetWorker worker, TokenRequest request) {
    PromptTokens known = given(worker, request);
    if (known == null && request.body().length() > MAX_BODY_BYTES) {
      known = estimate(request, InexactCause.BODY_TOO_LARGE);
    }
    List<TokenStep> steps = known == null ? steps(worker, request) : List.of();
    OwnTokens made = known == null ? own.get(request.model()) : null;
    boolean makes = made != null && made.serves(request.path());
    byte[] whole = makes ? TokenBodies.rendered(request) : null;
    if (!makes) {
      TokenStep.makeFirst(steps);
    }
    return new Prepared(worker, request, known, steps, whole);
  }

  /**
   * Finds the tokens of a request.
   *
   * @param worker the worker to ask, if need be
   * @param loop the event loop, which is the current thread
   * @param request the request
   * @param then receives the tokens once, on the loop: within this call if no question is needed
   */
  public void ask(
      FleetWorker worker, EventLoop loop, TokenRequest request, Consumer<PromptTokens> then) {
    ask(prepare(worker, request), loop, then);
  }

  /**
   * Finds the tokens of a request.
   *
   * @param prepared the questions
   * @param loop the event loop, which is the current thread
   * @param then receives the tokens once, on the loop: within this call if no question is needed
   */
  public void ask(Prepared prepared, EventLoop loop, Consumer<PromptTokens> then) {
    OwnTokens made = prepared.whole == null ? null : own.get(prepared.request.model());
    if (prepared.known != null) {
      then.accept(prepared.known);
    } else if (made == null || prepared.whole == null) {
      new Question(prepared, loop, (found, fresh) -> then.accept(found)).nextWay();
    } else {
      made.ask(
          prepared.request.path(),
          prepared.whole,
          prepared.worker.tokensDoubted(),
          loop,
          timeoutMs,
          answer -> new Question(prepared, loop, answer).nextWay(),
          then);
    }
  }

  /**
   * Whether a worker can be sent tokens in place of the prompt that they are made of. It must have
   * made them itself, and not have recovered since: no other tokenizer is known to agree.
   *
   * @param worker the worker
   * @param path the endpoint
   * @param body the request
   * @param tokens what was found for the request
   * @return whether it loses nothing by it
   */
  public static boolean replacesPrompt(
      FleetWorker worker, String path, BodyScan body, PromptTokens tokens) {
    return tokens.ids() != null
        && tokens.ids().size() == 1
        && MakerLife.of(worker).equals(tokens.maker())
        && TokenDialect.of(worker.flavor()).takesTokens(path, body);
  }

  private static @Nullable PromptTokens given(FleetWorker worker, TokenRequest request) {
    BodyField field = TokenDialect.of(worker.flavor()).tokensField();
    List<int[]> ids = field == null ? null : request.body().tokens(field);
    if (ids == null && request.prompt().form() == PromptSource.Form.TOKENS) {
      ids = ((Prompt.Tokens) request.prompt().prompt()).sequences();
    }
    return ids == null ? null : PromptTokens.given(ids);
  }

  private static PromptTokens estimate(TokenRequest request, InexactCause missing) {
    return PromptTokens.estimate(request.body().prompt().bytes(), missing);
  }

  private AbsentWays lacks(MakerLife life) {
    return absent.compute(
        life.maker(),
        (key, known) ->
            known == null || !known.isOf(life.lives()) ? new AbsentWays(life.lives()) : known);
  }

  private List<TokenStep> steps(FleetWorker worker, TokenRequest request) {
    List<TokenWay> ways = TokenDialect.of(worker.flavor()).ways(request);
    List<TokenStep> steps = new ArrayList<>();
    for (TokenMaker maker : TokenMaker.of(worker)) {
      MakerLife life = MakerLife.of(maker);
      AbsentWays lacks = lacks(life);
      String family = maker.family();
      ways.forEach(way -> steps.add(new TokenStep(life, family, lacks, way)));
    }
    return steps;
  }

  /** The questions of one request, one after the other. Confined to its event loop. */
  private final class Question {

    private final FleetWorker worker;
    private final EventLoop loop;
    private final TokenRequest request;
    private final BiConsumer<PromptTokens, Boolean> then;
    private final List<TokenStep> steps;
    private int at;
    private boolean asked;
    private final long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);

    Question(Prepared prepared, EventLoop loop, BiConsumer<PromptTokens, Boolean> then) {
      this.worker = prepared.worker;
      this.loop = loop;
      this.request = prepared.request;
      this.then = then;
      this.steps = prepared.steps;
    }

    /** Asks in the next way that a maker has. */
    void nextWay() {
      while (at < steps.size()) {
        TokenStep step = steps.get(at++);
        if (step.isTaken(clockNs.getAsLong())) {
          next(step, new ArrayList<>());
          return;
        }
      }
      then.accept(estimate(request, whyNone()), asked);
    }

    private InexactCause whyNone() {
      boolean fits = steps.stream().anyMatch(step -> step.way().prompts() <= MAX_PROMPTS);
      if (!fits || request.body().has(BodyField.PREVIOUS_RESPONSE_ID)) {
        return InexactCause.BODY_UNSUPPORTED;
      }
      if (!steps.stream().allMatch(TokenStep::isMissing)) {
        return InexactCause.TOKENS_UNANSWERED;
      }
      if (lacks(MakerLife.of(worker)).isFirst(request.path())) {
        LOG.warn(
            "worker {}: requests to {} are placed without their tokens: {}",
            worker.name(),
            request.path(),
            TokenDialect.of(worker.flavor()).remedy(request.path()));
      }
      OwnTokens made = own.get(request.model());
      return made != null && !made.serves(request.path())
          ? InexactCause.TEMPLATE_UNSUPPORTED
          : InexactCause.RENDER_404;
    }

    /** The renderer fails: the worker is asked next. */
    private void skipRenderer(Renderer renderer, TokenStep failed, TokenFlight.Outcome outcome) {
      boolean refused = outcome.status() == UNAUTHORIZED || outcome.status() == FORBIDDEN;
      if (refused && failed.lacks().add(failed.way().id(), clockNs.getAsLong())) {
        LOG.warn("renderer {} refuses questions: {}", renderer.name(), renderer.spec().keyRemedy());
      }
      while (at < steps.size() && steps.get(at).life().equals(failed.life())) {
        TokenStep other = steps.get(at++);
        if (outcome.failed()) {
          other.lacks().pause(other.way().id(), other.bytes(), clockNs.getAsLong());
        }
      }
    }

    /** Finds the tokens of the prompts that are left. */
    private void next(TokenStep step, List<MadeTokens> found) {
      TokenWay way = step.way();
      while (found.size() < way.prompts()) {
        byte[] body = way.bodies().get(found.size());
        TokenCache.Key key = TokenCache.key(step.family(), request.model(), way.target(), body);
        MadeTokens known = cache.get(key);
        if (known == null || !known.maker().lasts()) {
          fly(key, step, body, found);
          return;
        }
        found.add(known);
      }
      then.accept(PromptTokens.made(found), asked);
    }

    private void fly(TokenCache.Key question, TokenStep step, byte[] body, List<MadeTokens> found) {
      TokenMaker maker = step.life().maker();
      long leftMs = TimeUnit.NANOSECONDS.toMillis(endNs - System.nanoTime());
      if (maker instanceof TokenMaker.Rendering) {
        leftMs = (leftMs + 1) / 2; // the worker is asked where it fails
      }
      if (leftMs < 1) {
        then.accept(estimate(request, InexactCause.TOKENS_UNANSWERED), asked);
        return;
      }
      FlightKey key = new FlightKey(question, step.life());
      Consumer<TokenFlight.Outcome> waiter =
          outcome -> loop.execute(() -> onOutcome(outcome, step, found));
      TokenFlight own = new TokenFlight();
      TokenFlight flight = flights.computeIfAbsent(key, any -> own);
      if (!flight.join(waiter)) {
        next(step, found); // it ended just now, so its answer is kept unless it failed
        return;
      }
      if (flight != own) {
        return;
      }
      boolean first = !asked;
      asked = true;
      EngineQuestion.Receiver receiver =
          (status, answer) -> {
            if (status != EngineQuestion.NO_ANSWER) { // which a long prompt can cause
              maker.onAnswer(status != EngineQuestion.NO_CONNECTION);
            }
            int[] ids = status == 200 ? TokenAnswer.read(answer) : null;
            MadeTokens tokens = ids == null ? null : new MadeTokens(ids, step.life());
            if (tokens != null) {
              cache.put(question, tokens);
            }
            flights.remove(key, own);
            own.finish(new TokenFlight.Outcome(tokens, status, first));
          };
      try {
        EngineQuestion.post(
            maker.upstream(), step.way().target(), body, loop, MAX_ANSWER_BYTES, leftMs, receiver);
      } catch (RuntimeException e) {
        LOG.warn("{} cannot be asked for tokens", maker.name(), e);
        receiver.onAnswer(EngineQuestion.NO_ANSWER, new byte[0]);
      }
    }

    private void onOutcome(TokenFlight.Outcome outcome, TokenStep step, List<MadeTokens> found) {
      MadeTokens tokens = outcome.tokens();
      TokenWay way = step.way();
      if (tokens != null) {
        if (step.lacks().remove(way.id())) {
          LOG.info("{} has POST {} now", step.life().maker().name(), way.target());
        }
        found.add(tokens);
        next(step, found);
      } else if (way.isAbsence(outcome.status())) {
        if (step.lacks().isAbsence(way.id(), outcome.status())) {
          step.lacks().add(way.id(), clockNs.getAsLong());
        }
        nextWay();
      } else {
        if (outcome.failed()) {
          step.lacks().pause(way.id(), step.bytes(), clockNs.getAsLong());
        }
        if (step.life().maker() instanceof TokenMaker.Rendering rendering) {
          skipRenderer(rendering.renderer(), step, outcome);
          nextWay();
        } else {
          then.accept(estimate(request, InexactCause.TOKENS_UNANSWERED), asked);
        }
      }
    }
  }
}
