package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.DictView;
import io.kvasir.tokens.template.python.LazyItems;
import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.None;
import io.kvasir.tokens.template.python.Operators;
import io.kvasir.tokens.template.python.PythonHash;
import io.kvasir.tokens.template.python.PythonIterator;
import io.kvasir.tokens.template.python.PythonNumbers;
import io.kvasir.tokens.template.python.PythonOrder;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.TemplateFault;
import io.kvasir.tokens.template.python.Undefined;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Filters whose items are computed when they are asked for, as those of Python's generators: their
 * errors come then, and they can be read once. Stateless.
 */
final class LazyFilters {

  private LazyFilters() {}

  /** Makes the items of a filter, when the first is asked for. */
  private interface Items {
    Iterator<Object> begin();
  }

  static void addTo(Map<String, Filters.Filter> all) {
    all.put("map", LazyFilters::map);
    all.put("select", (budget, value, arguments) -> select(budget, value, arguments, 0, true));
    all.put("reject", (budget, value, arguments) -> select(budget, value, arguments, 0, false));
    all.put("selectattr", (budget, value, arguments) -> select(budget, value, arguments, 1, true));
    all.put("rejectattr", (budget, value, arguments) -> select(budget, value, arguments, 1, false));
    all.put("items", Filters.bound("items", "", (budget, value, none) -> items(value)));
    all.put("unique", Filters.bound("unique", "case_sensitive? attribute?", LazyFilters::unique));
    all.put("batch", Filters.bound("batch", "linecount fill_with?", LazyFilters::batch));
    all.put("slice", Filters.bound("slice", "slices fill_with?", LazyFilters::slice));
  }

  private static PythonIterator lazy(Items items) {
    return new PythonIterator(
        new LazyItems() {
          private Iterator<Object> begun = List.of().iterator();
          private boolean begins = true;

          @Override
          protected Object compute() {
            if (begins) {
              begins = false;
              begun = items.begin();
            }
            return begun.hasNext() ? begun.next() : Missing.MISSING;
          }
        });
  }

  private static Object map(Budget budget, Object value, Arguments arguments) {
    return lazy(
        () -> {
          if (!PythonValues.isTrue(value)) {
            return List.of().iterator();
          }
          UnaryOperator<Object> change = change(budget, arguments);
          Iterator<Object> items = PythonValues.iterator(value);
          return new LazyItems() {
            @Override
            protected Object compute() {
              budget.step();
              return items.hasNext() ? change.apply(items.next()) : Missing.MISSING;
            }
          };
        });
  }

  private static UnaryOperator<Object> change(Budget budget, Arguments arguments) {
    if (arguments.positional().isEmpty() && arguments.named().containsKey("attribute")) {
      Map<String, Object> named = new LinkedHashMap<>(arguments.named());
      Object attribute = PythonValues.of(named.remove("attribute"));
      Object otherwise = PythonValues.of(named.remove("default"));
      if (!named.isEmpty()) {
        throw TemplateFault.error("Unexpected keyword argument " + named.keySet());
      }
      Attributes path = Attributes.of(attribute, otherwise);
      return item -> path.of(budget, item);
    }
    if (arguments.positional().isEmpty()) {
      throw TemplateFault.error("map requires a filter argument");
    }
    Filters.Filter filter = Filters.named(arguments.positional().get(0));
    Arguments rest = arguments.from(1);
    return item -> filter.apply(budget, item, rest);
  }

  private static Object select(
      Budget budget, Object value, Arguments arguments, int attributes, boolean selected) {
    return lazy(
        () -> {
          if (!PythonValues.isTrue(value)) {
            return List.of().iterator();
          }
          if (arguments.positional().size() < attributes) {
            throw TemplateFault.error("Missing parameter for attribute name");
          }
          Object attribute = attributes == 0 ? None.NONE : arguments.positional().get(0);
          Attributes path = Attributes.of(attribute, None.NONE);
          boolean tests = arguments.positional().size() > attributes;
          Tests.Test test =
              tests
                  ? Tests.named(arguments.positional().get(attributes))
                  : (anyBudget, item, none) -> PythonValues.isTrue(item);
          Arguments rest = tests ? arguments.from(attributes + 1) : Arguments.NO_ARGUMENTS;
          Iterator<Object> items = PythonValues.iterator(value);
          return new LazyItems() {
            @Override
            protected Object compute() {
              while (items.hasNext()) {
                budget.step();
                Object item = items.next();
                if (test.apply(budget, path.of(budget, item), rest) == selected) {
                  return item;
                }
              }
              return Missing.MISSING;
            }
          };
        });
  }

  private static Object items(Object value) {
    return lazy(
        () -> {
          if (value instanceof Undefined) {
            return List.of().iterator();
          }
          if (value instanceof Map<?, ?> map) {
            return new DictView(map, DictView.Part.ITEMS).iterator();
          }
          throw TemplateFault.error("Can only get item pairs from a mapping.");
        });
  }

  private static Object unique(Budget budget, Object value, Object[] arguments) {
    return lazy(
        () -> {
          Attributes path = Attributes.of(Arguments.or(arguments[1], None.NONE), None.NONE);
          boolean caseSensitive = Arguments.isSet(arguments[0]);
          Set<Object> seen = new HashSet<>();
          Iterator<Object> items = PythonValues.iterator(value);
          return new LazyItems() {
            @Override
            protected Object compute() {
              while (items.hasNext()) {
                budget.step();
                Object item = items.next();
                if (seen.add(PythonHash.key(path.key(budget, item, caseSensitive)))) {
                  return item;
                }
              }
              return Missing.MISSING;
            }
          };
        });
  }

  private static Object batch(Budget budget, Object value, Object[] arguments) {
    return lazy(
        () -> {
          Iterator<Object> items = PythonValues.iterator(value);
          return new LazyItems() {
            private boolean begun;

            @Override
            protected Object compute() {
              List<Object> batch = new ArrayList<>();
              boolean first = !begun && items.hasNext();
              begun = true;
              if (first && PythonOrder.equal(budget, 0L, arguments[0])) {
                return batch;
              }
              while (items.hasNext() && !isFull(batch)) {
                budget.step();
                batch.add(items.next());
              }
              return batch.isEmpty() ? Missing.MISSING : filled(batch);
            }

            /** A batch but the first holds at least one item, whatever its size should be. */
            private boolean isFull(List<Object> batch) {
              if (batch.isEmpty()) {
                return false;
              }
              return PythonOrder.equal(budget, (long) batch.size(), arguments[0]);
            }

            private Object filled(List<Object> batch) {
              Object fill = Arguments.or(arguments[1], None.NONE);
              if (fill != None.NONE
                  && PythonOrder.ordered(budget, "<", (long) batch.size(), arguments[0])) {
                long size = PythonNumbers.bounded(arguments[0], "batch");
                budget.checkSize(size);
                budget.work(size);
                while (batch.size() < size) {
                  batch.add(fill);
                }
              }
              return batch;
            }
          };
        });
  }

  private static Object slice(Budget budget, Object value, Object[] arguments) {
    return lazy(
        () -> {
          List<Object> all = Operators.list(budget, value);
          if (arguments[0] instanceof Double) {
            throw TemplateFault.error("'float' object cannot be interpreted as an integer");
          }
          if (arguments[0] instanceof BigInteger large && large.signum() > 0) {
            budget.checkSize(Long.MAX_VALUE); // Python would make them all
          }
          long slices = PythonNumbers.bounded(arguments[0], "slice");
          if (slices == 0) {
            throw TemplateFault.error("integer division or modulo by zero");
          }
          budget.checkSize(slices);
          long each = Math.floorDiv((long) all.size(), slices);
          long longer = Math.floorMod((long) all.size(), slices);
          List<Object> parts = new ArrayList<>();
          int at = 0;
          for (long i = 0; i < slices; i++) {
            budget.step();
            int end = (int) (at + each + (i < longer ? 1 : 0));
            List<Object> part = new ArrayList<>(all.subList(at, end));
            if (Arguments.or(arguments[1], None.NONE) != None.NONE && i >= longer) {
              part.add(arguments[1]);
            }
            parts.add(part);
            at = end;
          }
          return parts.iterator();
        });
  }
}
