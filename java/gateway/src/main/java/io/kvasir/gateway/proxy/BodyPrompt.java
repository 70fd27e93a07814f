package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyHold;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.PromptSource;
import io.kvasir.fleet.router.TextSink;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.ScannedPrompt;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The prompt of a body, decoded once and only if a policy needs more than its text. Decoded text
 * counts against the budget.
 *
 * <p>Thread-safe.
 */
final class BodyPrompt implements PromptSource {

  /** Stands for a prompt that the gateway cannot read, for example one of images only. */
  static final Prompt UNREADABLE = new Prompt.Texts(List.of(""));

  private static final TextSink NO_SINK =
      new TextSink() {
        @Override
        public void accept(byte[] utf8, int from, int to) {}

        @Override
        public void next() {}
      };

  private final ScannedPrompt scanned;
  private final BodyHold hold;
  private final Form form;
  private boolean charged;
  private @Nullable Turn turn;
  private @Nullable Prompt decoded;

  /** The budget has no room for a decoded prompt. */
  static final class NoRoom extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final transient Problem problem;

    NoRoom(Problem problem) {
      super(problem.message(), null, false, false);
      this.problem = problem;
    }

    /** The reply to the request. */
    Problem problem() {
      return problem;
    }
  }

  private BodyPrompt(ScannedPrompt scanned, BodyHold hold, Form form) {
    this.scanned = scanned;
    this.hold = hold;
    this.form = form;
  }

  /**
   * {@return the prompt of a body}
   *
   * @param body the body
   * @param hold what the request holds of the budget
   */
  static PromptSource of(BodyScan body, BodyHold hold) {
    Form form = body.prompt().form();
    return form == null ? UNREADABLE : new BodyPrompt(body.prompt(), hold, form);
  }

  @Override
  public Form form() {
    return form;
  }

  /**
   * {@inheritDoc}
   *
   * @throws NoRoom if the budget is used up
   */
  @Override
  public synchronized Prompt prompt() {
    Prompt known = decoded;
    if (known == null) {
      charge();
      Prompt read = scanned.decode();
      known = read == null ? UNREADABLE : read;
      decoded = known;
    }
    return known;
  }

  /**
   * Counts what will be decoded of the body, once.
   *
   * @throws NoRoom if the budget is used up
   */
  synchronized void charge() {
    long bytes = scanned.decodedBytes();
    if (!charged && !hold.take(bytes)) {
      throw new NoRoom(Problem.of(hold.refusal(bytes)));
    }
    charged = true;
  }

  @Override
  public synchronized Turn turn() {
    if (turn == null && form == Form.CHAT) {
      forEachText(NO_SINK);
    }
    return turn == null ? Turn.UNKNOWN : turn;
  }

  @Override
  public synchronized void forEachText(TextSink sink) {
    boolean answered = scanned.forEachText(sink);
    if (form == Form.CHAT) {
      turn = answered ? Turn.FURTHER : Turn.FIRST;
    }
  }
}
