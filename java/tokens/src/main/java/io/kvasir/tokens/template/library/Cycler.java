package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.None;
import io.kvasir.tokens.template.python.PythonTuple;
import io.kvasir.tokens.template.python.PythonValue;
import java.util.List;

/** Items that are taken in turn. Not thread-safe. */
final class Cycler implements PythonValue {

  private final List<Object> items;
  private int position;

  Cycler(List<Object> items) {
    this.items = items;
  }

  @Override
  public String typeName() {
    return "Cycler";
  }

  @Override
  public Object attribute(String name) {
    return switch (name) {
      case "current" -> items.get(position);
      case "items" -> new PythonTuple(items);
      case "pos" -> (long) position;
      case "next" ->
          new LibraryFunction(
              "next",
              (budget, arguments) -> {
                arguments.only("next", 0, 0);
                Object item = items.get(position);
                position = (position + 1) % items.size();
                return item;
              });
      case "reset" ->
          new LibraryFunction(
              "reset",
              (budget, arguments) -> {
                arguments.only("reset", 0, 0);
                position = 0;
                return None.NONE;
              });
      default -> Missing.MISSING;
    };
  }
}
