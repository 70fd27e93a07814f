package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.TemplateFault;
import java.time.Clock;
import java.util.Map;

/**
 * A template as a tree of statements. Failures are {@link TemplateFault}s with their place.
 *
 * <p>Immutable and thread-safe.
 */
public final class CompiledTemplate {

  private final Frame frame;

  /**
   * Compiles a template.
   *
   * @param source with newlines as {@link #normalized} makes them
   * @param nesting how deep statements and expressions may be nested
   */
  public CompiledTemplate(String source, int nesting) {
    TokenStream tokens = new TokenStream(new Lexer(source).tokens());
    this.frame = new StatementParser(tokens, nesting).template();
    Mentions.check(frame, nesting);
    Mentions.refuseSelf(frame);
    Symbols.analyze(frame);
  }

  /** Every kind of line end as {@code \n}, and without the last one. */
  public static String normalized(String source) {
    String lines = source.replace("\r\n", "\n").replace('\r', '\n');
    return lines.endsWith("\n") ? lines.substring(0, lines.length() - 1) : lines;
  }

  /**
   * Renders the template.
   *
   * @param variables by name
   * @param clock for {@code strftime_now}
   * @param budget that the rendering may use up
   */
  public String render(Map<String, ?> variables, Clock clock, Budget budget) {
    RenderState state = new RenderState(variables, clock, budget);
    try {
      Scope scope = new Scope(state);
      frame.hide(scope);
      frame.exec(scope);
      return state.text();
    } catch (TemplateFault fault) {
      throw fault.placed(state.at());
    } catch (StackOverflowError nested) {
      throw TemplateFault.limit(state.at(), "calls are nested too deep");
    }
  }
}
