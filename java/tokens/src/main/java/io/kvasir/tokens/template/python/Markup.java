package io.kvasir.tokens.template.python;

import java.util.Iterator;

/**
 * Text marked as safe. Templates print it; what Python would escape when it is joined with other
 * text is refused or escaped. Immutable.
 *
 * @param text of it
 */
public record Markup(String text) implements PythonIterable {

  public static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace(">", "&gt;")
        .replace("<", "&lt;")
        .replace("'", "&#39;")
        .replace("\"", "&#34;");
  }

  @Override
  public Iterator<Object> iterator() {
    throw TemplateFault.unsupported("iterating over a Markup");
  }

  @Override
  public long length() {
    return PythonText.length(text);
  }

  @Override
  public String typeName() {
    return "Markup";
  }

  @Override
  public String repr(Budget budget) {
    return "Markup(" + PythonRepr.quoted(text) + ")";
  }

  @Override
  public boolean isTrue() {
    return !text.isEmpty();
  }

  @Override
  public Object attribute(String name) {
    if (PythonAttributes.STR.contains(name)) {
      throw TemplateFault.unsupported("methods of text that is marked as safe");
    }
    return Missing.MISSING;
  }
}
