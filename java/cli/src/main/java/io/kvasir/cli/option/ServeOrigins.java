package io.kvasir.cli.option;

import io.kvasir.gateway.proxy.CrossOrigin;
import io.kvasir.model.Errors;
import java.util.List;
import java.util.regex.Pattern;

/** Options that let pages in browsers use a gateway, with the names and defaults of vLLM. */
@Heading(value = Heading.LIMITS, block = Block.CORS)
final class ServeOrigins extends DeclaredOptions {

  private static final String ALL = "*";
  private static final Pattern ORIGIN =
      Pattern.compile("\\*|null|[A-Za-z][A-Za-z0-9+.-]*://[^/?#\\s,]+");
  private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

  private final Declared<List<String>> origins =
      names(
          "--allowed-origins",
          "ORIGIN",
          ORIGIN,
          "an origin like https://page.example:3000, without a path, or *",
          44,
          "Pages in browsers that may use the public port; a list in JSON is read too");

  private final Declared<List<String>> methods =
      names(
          "--allowed-methods",
          "METHOD",
          TOKEN,
          "a method like POST, or *",
          45,
          "Methods that these pages may use");

  private final Declared<List<String>> headers =
      names(
          "--allowed-headers",
          "NAME",
          TOKEN,
          "the name of a header field, or *",
          46,
          "Header fields that these pages may send");

  private final Declared<Boolean> credentials =
      flag("--allow-credentials", "false")
          .candidates(Choices.Booleans.class)
          .bare("true")
          .help(47, "Whether these pages may send cookies and the like");

  private Declared<List<String>> names(
      String option, String label, Pattern form, String expected, int order, String description) {
    return option(
            option,
            label + "[," + label + "]",
            ALL,
            text ->
                Values.list(option, unwrapped(text), each -> name(option, each, form, expected)))
        .help(order, description);
  }

  /** Removes the brackets and quotes of a list in JSON, as vLLM takes it. */
  private static String unwrapped(String text) {
    String list = text.strip();
    return list.startsWith("[") && list.endsWith("]")
        ? list.substring(1, list.length() - 1).replace("\"", "").replace("'", "")
        : list;
  }

  private static String name(String option, String text, Pattern form, String expected) {
    if (!form.matcher(text).matches()) {
      throw new UsageException(
          option, "must be " + expected + ", not '" + Errors.shown(text) + "'");
    }
    return text;
  }

  /** What the options say. */
  CrossOrigin policy() {
    return new CrossOrigin(origins.value(), methods.value(), headers.value(), credentials.value());
  }
}
