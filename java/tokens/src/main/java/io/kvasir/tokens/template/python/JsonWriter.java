package io.kvasir.tokens.template.python;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code json.dumps()}. Not thread-safe; for one use. */
public final class JsonWriter {

  private final Budget budget;
  private final StringBuilder text = new StringBuilder();
  private final boolean ascii;
  private final boolean sorted;
  private final @Nullable String indent;
  private final String betweenItems;
  private final String behindKeys;

  private JsonWriter(
      Budget budget, boolean ascii, boolean sorted, @Nullable String indent, Object separators) {
    this.budget = budget;
    this.ascii = ascii;
    this.sorted = sorted;
    this.indent = indent;
    if (separators == None.NONE) {
      betweenItems = indent == null ? ", " : ",";
      behindKeys = ": ";
      return;
    }
    List<Object> both = Operators.list(budget, separators);
    if (both.size() != 2) {
      throw TemplateFault.error("separators must be two");
    }
    betweenItems = PythonText.argument(both.get(0), "tojson");
    behindKeys = PythonText.argument(both.get(1), "tojson");
  }

  /**
   * Writes a value.
   *
   * @param ascii whether other characters are escaped
   * @param sorted whether keys are in order
   * @param indent None for one line
   * @param separators None for the usual ones
   */
  public static String write(
      Budget budget,
      Object value,
      boolean ascii,
      boolean sorted,
      Object indent,
      Object separators) {
    JsonWriter writer =
        new JsonWriter(budget, ascii, sorted, indentation(budget, indent), separators);
    writer.value(value, 0);
    return writer.text.toString();
  }

  private static @Nullable String indentation(Budget budget, Object indent) {
    if (indent == None.NONE) {
      return null;
    }
    if (indent instanceof String text) {
      return text;
    }
    return (String) Operators.binary(budget, "*", " ", indent);
  }

  private void value(Object value, int depth) {
    budget.step();
    budget.checkSize(text.length());
    PythonValues.checkDepth(depth);
    if (value instanceof String string) {
      string(string);
    } else if (value instanceof Markup markup) {
      string(markup.text());
    } else if (value instanceof List || value instanceof PythonTuple) {
      array(value, depth);
    } else if (value instanceof Map<?, ?> map) {
      object(map, depth);
    } else {
      text.append(scalar(value));
    }
  }

  private String scalar(Object value) {
    if (value == None.NONE) {
      return "null";
    }
    if (value instanceof Boolean || value instanceof Long) {
      return value.toString();
    }
    if (value instanceof BigInteger large) {
      return PythonRepr.decimal(large);
    }
    if (value instanceof Double number) {
      budget.work(PythonRepr.FLOAT_WORK);
      return Double.isNaN(number)
          ? "NaN"
          : Double.isInfinite(number)
              ? (number > 0 ? "Infinity" : "-Infinity")
              : PythonRepr.number(number);
    }
    throw TemplateFault.error(
        "Object of type " + PythonValues.typeName(value) + " is not JSON serializable");
  }

  private void array(Object value, int depth) {
    Iterator<Object> items = PythonValues.iterator(value);
    text.append('[');
    boolean empty = true;
    while (items.hasNext()) {
      text.append(empty ? "" : betweenItems);
      newLine(depth + 1);
      value(items.next(), depth + 1);
      empty = false;
    }
    if (!empty) {
      newLine(depth);
    }
    text.append(']');
  }

  private void object(Map<?, ?> map, int depth) {
    text.append('{');
    List<Object> entries = Operators.list(budget, new DictView(map, DictView.Part.ITEMS));
    List<Object> keys = new ArrayList<>();
    entries.forEach(entry -> keys.add(((PythonTuple) entry).items().get(0)));
    List<Integer> order = null;
    if (sorted) {
      order = PythonOrder.sorted(budget, keys, false);
    }
    for (int i = 0; i < entries.size(); i++) {
      int index = order == null ? i : order.get(i);
      text.append(i == 0 ? "" : betweenItems);
      newLine(depth + 1);
      key(keys.get(index));
      text.append(behindKeys);
      value(((PythonTuple) entries.get(index)).items().get(1), depth + 1);
    }
    if (!entries.isEmpty()) {
      newLine(depth);
    }
    text.append('}');
  }

  private void key(Object key) {
    if (key instanceof String string) {
      string(string);
    } else if (key instanceof Markup markup) {
      string(markup.text());
    } else if (key == None.NONE || PythonNumbers.isNumber(key)) {
      text.append('"').append(scalar(key)).append('"');
    } else {
      throw TemplateFault.error(
          "keys must be str, int, float, bool or None, not " + PythonValues.typeName(key));
    }
  }

  private void newLine(int depth) {
    if (indent != null) {
      budget.work((long) depth * indent.length());
      budget.checkSize(text.length() + (long) depth * indent.length());
      text.append('\n').append(indent.repeat(depth));
    }
  }

  private void string(String string) {
    budget.work(string.length());
    text.append('"');
    for (int i = 0; i < string.length(); i++) {
      char c = string.charAt(i);
      switch (c) {
        case '"' -> text.append("\\\"");
        case '\\' -> text.append("\\\\");
        case '\n' -> text.append("\\n");
        case '\r' -> text.append("\\r");
        case '\t' -> text.append("\\t");
        case '\b' -> text.append("\\b");
        case '\f' -> text.append("\\f");
        default -> {
          if (c < 0x20 || (ascii && c >= 0x7f)) {
            PythonRepr.hex(text.append("\\u"), c, 4);
          } else {
            text.append(c);
          }
        }
      }
    }
    text.append('"');
  }
}
