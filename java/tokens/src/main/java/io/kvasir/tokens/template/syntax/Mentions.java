package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.library.Functions;
import io.kvasir.tokens.template.python.TemplateFault;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Searches parsed templates for names. Stateless. */
final class Mentions {

  private static final Set<String> SPECIAL = Set.of("caller", "loop", "kwargs", "varargs");

  private record Deep(Node node, int depth) {}

  private Mentions() {}

  /** Those of some names that statements read before they assign them. */
  static Set<String> of(List<Statement> body, Set<String> wanted) {
    Set<String> names = new HashSet<>(wanted);
    Set<String> found = new HashSet<>();
    Deque<Node> nodes = new ArrayDeque<>(body);
    while (!nodes.isEmpty()) {
      Node node = nodes.pop();
      if (node instanceof Literals.Name name) {
        if (names.contains(name.name())) {
          found.add(name.name());
        }
      } else if (node instanceof Target.Name name) {
        names.remove(name.name());
      }
      List<Node> children = node.children();
      for (int i = children.size() - 1; i >= 0; i--) {
        nodes.push(children.get(i));
      }
    }
    return found;
  }

  /** Refuses an assignment to a name. */
  static void refuseAssigned(Node root, String name) {
    Deque<Node> nodes = new ArrayDeque<>(List.of(root));
    while (!nodes.isEmpty()) {
      Node node = nodes.pop();
      if (node instanceof Target.Name target && !target.parameter() && target.name().equals(name)) {
        throw TemplateFault.syntax(
            node.at(), "no value can be assigned to '" + name + "' in a loop");
      }
      node.children().forEach(nodes::push);
    }
  }

  /** Refuses the template as a value of its own. */
  static void refuseSelf(Frame template) {
    if (of(template.body(), Set.of("self")).isEmpty()) {
      return;
    }
    Deque<Node> nodes = new ArrayDeque<>(template.body());
    while (!nodes.isEmpty()) {
      Node node = nodes.pop();
      if (node instanceof Literals.Name name && name.name().equals("self")) {
        throw TemplateFault.unsupported(name.at(), "variable 'self'");
      }
      node.children().forEach(nodes::push);
    }
  }

  /**
   * Refuses nesting that recursion could not follow, and calls of functions that nothing defines.
   */
  static void check(Frame template, int deepest) {
    Set<String> assigned = new HashSet<>(SPECIAL);
    Deque<Deep> nodes = new ArrayDeque<>();
    template.body().forEach(statement -> nodes.push(new Deep(statement, 1)));
    List<Literals.Name> called = new ArrayList<>();
    while (!nodes.isEmpty()) {
      Deep deep = nodes.pop();
      Node node = deep.node();
      if (deep.depth() > deepest) {
        throw TemplateFault.limit(node.at(), "nested more than " + deepest + " deep");
      }
      if (node instanceof Target.Name name) {
        assigned.add(name.name());
      } else if (node instanceof MacroDefinition macro) {
        assigned.add(macro.name());
      } else if (node instanceof Invocation.Call call
          && call.callee() instanceof Literals.Name name) {
        called.add(name);
      }
      node.children().forEach(child -> nodes.push(new Deep(child, deep.depth() + 1)));
    }
    for (Literals.Name name : called) {
      if (!assigned.contains(name.name()) && !Functions.isKnown(name.name())) {
        throw TemplateFault.unsupported(name.at(), "function '" + name.name() + "'");
      }
    }
  }
}
