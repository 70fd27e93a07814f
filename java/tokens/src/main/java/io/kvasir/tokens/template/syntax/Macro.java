package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.library.Arguments;
import io.kvasir.tokens.template.library.PythonCallable;
import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.None;
import io.kvasir.tokens.template.python.PythonDict;
import io.kvasir.tokens.template.python.PythonRepr;
import io.kvasir.tokens.template.python.PythonTuple;
import io.kvasir.tokens.template.python.TemplateFault;
import io.kvasir.tokens.template.python.Undefined;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A macro with the scope that it was defined in.
 *
 * @param definition of it
 * @param scope around it
 */
record Macro(MacroDefinition definition, Scope scope) implements PythonCallable {

  @Override
  public String typeName() {
    return "Macro";
  }

  @Override
  public String repr(Budget budget) {
    return definition.name().isEmpty()
        ? "<Macro anonymous>"
        : "<Macro " + PythonRepr.quoted(definition.name()) + ">";
  }

  @Override
  public Object attribute(String name) {
    return switch (name) {
      case "name" -> definition.name().isEmpty() ? None.NONE : definition.name();
      case "arguments" -> new PythonTuple(new ArrayList<>(definition.parameterNames()));
      case "caller" -> definition.usesCaller();
      case "catch_kwargs" -> definition.usesNamed();
      case "catch_varargs" -> definition.usesMore();
      case "explicit_caller" -> definition.parameterNames().contains("caller");
      default -> Missing.MISSING;
    };
  }

  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }

  @Override
  public Object call(Budget budget, Arguments arguments) {
    List<String> names = definition.parameterNames();
    Map<String, Object> named = new LinkedHashMap<>(arguments.named());
    int given = Math.min(arguments.positional().size(), names.size());
    Scope inner = definition.frame().enter(scope);
    boolean callerGiven = given == names.size() && names.contains("caller");
    for (int i = 0; i < names.size(); i++) {
      Object value = i < given ? arguments.positional().get(i) : named.remove(names.get(i));
      inner.set(names.get(i), value == null ? Missing.MISSING : value);
      callerGiven |= i >= given && names.get(i).equals("caller");
    }
    if (definition.usesCaller() && !callerGiven) {
      Object caller = named.remove("caller");
      inner.set(
          "caller",
          caller == null || caller == None.NONE ? new Undefined("No caller defined") : caller);
    }
    bindOthers(inner, arguments, named, names.size());
    return render(inner);
  }

  private void bindOthers(
      Scope inner, Arguments arguments, Map<String, Object> named, int parameters) {
    if (definition.usesNamed()) {
      PythonDict others = new PythonDict();
      named.forEach(others::set);
      inner.set("kwargs", others);
    } else if (!named.isEmpty()) {
      throw TemplateFault.error(
          "macro '%s' takes no keyword argument '%s'"
              .formatted(definition.name(), named.keySet().iterator().next()));
    }
    List<Object> positional = arguments.positional();
    if (definition.usesMore()) {
      int first = Math.min(parameters, positional.size());
      inner.set("varargs", new PythonTuple(positional.subList(first, positional.size())));
    } else if (positional.size() > parameters) {
      throw TemplateFault.error(
          "macro '%s' takes not more than %d argument(s)".formatted(definition.name(), parameters));
    }
  }

  private String render(Scope inner) {
    inner.budget().enter();
    StringBuilder former = inner.state().capture();
    for (int i = 0; i < definition.parameters().size(); i++) {
      String name = definition.parameterNames().get(i);
      if (inner.find(name) == Missing.MISSING) {
        int index = i - definition.parameters().size() + definition.defaults().size();
        Object value =
            index < 0
                ? new Undefined("parameter '" + name + "' was not provided")
                : definition.defaults().get(index).eval(inner);
        inner.set(name, value);
      }
    }
    definition.frame().exec(inner);
    inner.budget().leave();
    return inner.state().captured(former);
  }
}
