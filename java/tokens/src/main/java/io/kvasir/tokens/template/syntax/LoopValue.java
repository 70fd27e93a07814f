package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.library.Arguments;
import io.kvasir.tokens.template.library.LibraryFunction;
import io.kvasir.tokens.template.library.PythonCallable;
import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.PythonIterable;
import io.kvasir.tokens.template.python.PythonOrder;
import io.kvasir.tokens.template.python.PythonTuple;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.TemplateFault;
import io.kvasir.tokens.template.python.Undefined;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The variable {@code loop}. Not thread-safe. */
final class LoopValue implements PythonCallable, PythonIterable {

  private final Object source;
  private final int depth0;
  private Iterator<Object> items;
  private @Nullable Function<Object, String> onCall;
  private long index0 = -1;
  private long length = -1;
  private Object before = Missing.MISSING;
  private Object current = Missing.MISSING;
  private Object after = Missing.MISSING;
  private Object lastChanged = Missing.MISSING;

  LoopValue(Object source, Iterator<Object> items, int depth0) {
    this.source = source;
    this.items = items;
    this.depth0 = depth0;
  }

  /** Makes the loop one that can be called. */
  void onCall(Function<Object, String> loop) {
    onCall = loop;
  }

  /** The items of the loop, which move this on. */
  Iterator<Object> items() {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return peek() != Missing.MISSING;
      }

      @Override
      public Object next() {
        Object item = peek();
        after = Missing.MISSING;
        index0++;
        before = current;
        current = item;
        return item;
      }
    };
  }

  private Object peek() {
    if (after == Missing.MISSING && items.hasNext()) {
      after = items.next();
    }
    return after;
  }

  @Override
  public Iterator<Object> iterator() {
    throw TemplateFault.unsupported("iterating over a LoopContext");
  }

  @Override
  public long length() {
    if (length < 0) {
      length = PythonValues.lengthOrNone(source);
      if (length < 0) {
        List<Object> rest = new ArrayList<>();
        items.forEachRemaining(rest::add);
        items = rest.iterator();
        length = rest.size() + index0 + 1 + (after == Missing.MISSING ? 0 : 1);
      }
    }
    return length;
  }

  @Override
  public String typeName() {
    return "LoopContext";
  }

  @Override
  public String repr(Budget budget) {
    return "<LoopContext " + (index0 + 1) + "/" + length() + ">";
  }

  @Override
  public Object attribute(String name) {
    return switch (name) {
      case "index" -> index0 + 1;
      case "index0" -> index0;
      case "revindex" -> length() - index0;
      case "revindex0" -> length() - index0 - 1;
      case "first" -> index0 == 0;
      case "last" -> peek() == Missing.MISSING;
      case "length" -> length();
      case "depth" -> depth0 + 1L;
      case "depth0" -> (long) depth0;
      case "previtem" -> index0 == 0 ? new Undefined("there is no previous item") : before;
      case "nextitem" ->
          peek() == Missing.MISSING ? new Undefined("there is no next item") : peek();
      case "cycle" -> new LibraryFunction("cycle", this::cycle);
      case "changed" -> new LibraryFunction("changed", this::changed);
      default -> Missing.MISSING;
    };
  }

  private Object cycle(Budget budget, Arguments arguments) {
    List<Object> values = arguments.only("cycle", 0, Integer.MAX_VALUE);
    if (values.isEmpty()) {
      throw TemplateFault.error("no items for cycling given");
    }
    return values.get((int) (index0 % values.size()));
  }

  private Object changed(Budget budget, Arguments arguments) {
    Object values = new PythonTuple(arguments.only("changed", 0, Integer.MAX_VALUE));
    if (lastChanged != Missing.MISSING && PythonOrder.equal(budget, lastChanged, values)) {
      return false;
    }
    lastChanged = values;
    return true;
  }

  @Override
  public Object call(Budget budget, Arguments arguments) {
    List<Object> children = arguments.only("loop", 1, 1);
    if (onCall == null) {
      throw TemplateFault.error("The loop must have the 'recursive' marker to be called");
    }
    return onCall.apply(children.get(0));
  }
}
