package io.kvasir.tokens.template;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.TemplateFault;
import io.kvasir.tokens.template.syntax.CompiledTemplate;
import java.time.Clock;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A chat template, compiled: a strict part of Jinja that renders as Hugging Face's transformers
 * does. It refuses everything else.
 *
 * <p>Immutable and thread-safe.
 */
public final class JinjaChatTemplate {

  private static final String CONTENT = "(?:\\.content|\\[\\s*['\"]content['\"]\\s*\\])";
  private static final Pattern SET_CONTENT =
      Pattern.compile("\\bset\\s+(\\w+)\\s*=\\s*\\w+" + CONTENT);
  private static final Pattern LOOP =
      Pattern.compile("\\bfor\\s+\\w+\\s+in\\s+(?=(\\w+)(" + CONTENT + ")?)");

  private final String source;
  private final TemplateLimits limits;
  private final CompiledTemplate compiled;
  private final boolean readsParts;

  private JinjaChatTemplate(String source, TemplateLimits limits) {
    this.source = source;
    this.limits = limits;
    this.compiled = new CompiledTemplate(source, limits.nesting());
    this.readsParts = findsParts(source);
  }

  /**
   * Compiles a template with the default limits.
   *
   * @param source of it
   * @return the template
   * @throws TemplateException if the source is no template, or uses what Kvasir does not know
   */
  public static JinjaChatTemplate compile(String source) {
    return compile(source, TemplateLimits.DEFAULT);
  }

  /**
   * Compiles a template, in O(n) steps for n characters, and O(n * m) for m nested loops.
   *
   * @param source of it
   * @param limits of compiling and of rendering
   * @return the template
   * @throws TemplateException if the source is no template, uses what Kvasir does not know, or
   *     exceeds a limit
   */
  public static JinjaChatTemplate compile(String source, TemplateLimits limits) {
    if (source.length() > limits.sourceCharacters()) {
      throw new TemplateException(
          TemplateException.Reason.LIMIT,
          "the template has more than " + limits.sourceCharacters() + " characters",
          0,
          0);
    }
    String normalized = CompiledTemplate.normalized(source);
    try {
      return new JinjaChatTemplate(normalized, limits);
    } catch (TemplateFault fault) {
      throw exception(normalized, fault);
    }
  }

  /**
   * Renders the template.
   *
   * @param variables by name: String, Boolean, Integer, Long, BigInteger, Double, null, and Lists
   *     and Maps of these with Strings as keys. They are not copied and must not change meanwhile.
   * @param clock for {@code strftime_now}, in the zone whose time is shown
   * @return the text
   * @throws TemplateException if Python would raise an error, the template raises one, or a limit
   *     is exceeded
   */
  public String render(Map<String, ?> variables, Clock clock) {
    Budget budget =
        new Budget(
            limits.steps(),
            limits.outputCharacters(),
            limits.nesting(),
            limits.time(),
            System::nanoTime);
    try {
      return compiled.render(variables, clock, budget);
    } catch (TemplateFault fault) {
      throw exception(source, fault);
    }
  }

  /**
   * {@return whether the template goes through the parts of contents, as in {@code for part in
   * message.content}; if not, contents must be texts. As vLLM finds out}
   */
  public boolean readsParts() {
    return readsParts;
  }

  private static boolean findsParts(String source) {
    Set<String> contents = new HashSet<>();
    Matcher set = SET_CONTENT.matcher(source);
    while (set.find()) {
      contents.add(set.group(1));
    }
    Matcher loop = LOOP.matcher(source);
    while (loop.find()) {
      if (loop.group(2) != null || contents.contains(loop.group(1))) {
        return true;
      }
    }
    return false;
  }

  private static TemplateException exception(String source, TemplateFault fault) {
    TemplateException.Reason reason = TemplateException.Reason.valueOf(fault.kind().name());
    int at = fault.at();
    if (at < 0) {
      return new TemplateException(reason, fault.text(), 0, 0);
    }
    int line = 1 + (int) source.substring(0, at).chars().filter(c -> c == '\n').count();
    int begin = source.lastIndexOf('\n', at - 1) + 1;
    int column = 1 + source.codePointCount(begin, at);
    String unsupported = fault.kind() == TemplateFault.Kind.UNSUPPORTED ? "not supported: " : "";
    return new TemplateException(reason, unsupported + fault.text(), line, column);
  }
}
