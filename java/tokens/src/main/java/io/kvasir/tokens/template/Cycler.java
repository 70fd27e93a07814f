package io.kvasir.tokens.template;

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
              (run, arguments) -> {
                arguments.only("next", 0, 0);
                Object item = items.get(position);
                position = (position + 1) % items.size();
                return item;
              });
      case "reset" ->
          new LibraryFunction(
              "reset",
              (run, arguments) -> {
                arguments.only("reset", 0, 0);
                position = 0;
                return None.NONE;
              });
      default -> Missing.MISSING;
    };
  }
}
