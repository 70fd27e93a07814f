package io.kvasir.tokens.template.syntax;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds the names that a frame hides from the caller's variables.
 *
 * <p>Jinja decides when it compiles what a name refers to. A frame that mentions a name first where
 * it assigns it, and that no frame around it mentions, has a variable of its own, without a value
 * until then. Statements inside blocks such as loops belong to frames of their own and count for
 * nothing here; branches of {@code if} belong to the frame, but what only they assign is looked up
 * outside. Not thread-safe; for one template.
 */
final class Symbols {

  private final @Nullable Symbols outer;
  private Set<String> names = new HashSet<>();
  private Set<String> stores = new HashSet<>();
  private Set<String> undefined = new HashSet<>();

  private Symbols(@Nullable Symbols outer) {
    this.outer = outer;
  }

  /** Analyses a whole template. */
  static void analyze(Frame template) {
    Symbols symbols = new Symbols(null);
    symbols.visitAll(template.body());
    symbols.close(template);
  }

  /** Notes what was found, and analyses the frames inside. */
  private void close(Frame frame) {
    frame.undefined(undefined);
    frame.body().forEach(this::inside);
  }

  private boolean knows(String name) {
    return names.contains(name) || (outer != null && outer.knows(name));
  }

  private void parameter(String name) {
    names.add(name);
    stores.add(name);
    undefined.remove(name);
  }

  private void store(String name) {
    stores.add(name);
    if (names.add(name) && (outer == null || !outer.knows(name))) {
      undefined.add(name);
    }
  }

  private void load(String name) {
    if (!knows(name)) {
      names.add(name);
    }
  }

  private void visitAll(List<? extends Node> nodes) {
    nodes.forEach(this::visit);
  }

  /** Visits what belongs to this frame. */
  private void visit(Node node) {
    if (node instanceof Literals.Name name) {
      load(name.name());
    } else if (node instanceof Target.Name name) {
      if (name.parameter()) {
        parameter(name.name());
      } else {
        store(name.name());
      }
    } else if (node instanceof Target.Attribute attribute) {
      load(attribute.namespace());
    } else if (node instanceof Statements.If branches) {
      branches(branches);
    } else if (node instanceof MacroDefinition macro) {
      store(macro.name());
    } else if (node instanceof Statements.Assign assign) {
      visit(assign.value());
      visit(assign.target());
    } else if (node instanceof ForLoop loop) {
      visit(loop.items());
    } else if (node instanceof CallBlock block) {
      if (block.call() != null) {
        visit(block.call());
      }
    } else if (node instanceof Statements.FilterBlock block) {
      visit(block.filtered());
    } else if (node instanceof Statements.With with) {
      visitAll(with.values());
    } else if (node instanceof Statements.AssignBlock assign) {
      visit(assign.target());
    } else {
      visitAll(node.children());
    }
  }

  private void branches(Statements.If branches) {
    visit(branches.test());
    Symbols body = branch(branches.body());
    Symbols others = branch(branches.others());
    Symbols otherwise = branch(branches.otherwise());
    Set<String> former = stores;
    for (Symbols branch : List.of(body, others, otherwise)) {
      names.addAll(branch.names);
      undefined.addAll(branch.undefined);
      Set<String> all = new HashSet<>(stores);
      all.addAll(branch.stores);
      stores = all;
    }
    undefined.removeIf(name -> !former.contains(name));
  }

  private Symbols branch(List<? extends Node> nodes) {
    Symbols copy = new Symbols(outer);
    copy.names = new HashSet<>(names);
    copy.stores = new HashSet<>(stores);
    copy.undefined = new HashSet<>(undefined);
    copy.visitAll(nodes);
    return copy;
  }

  /** Analyses frames in a statement of this one. */
  private void inside(Statement statement) {
    if (statement instanceof Statements.If branches) {
      branches.body().forEach(this::inside);
      branches.others().forEach(this::inside);
      branches.otherwise().forEach(this::inside);
    } else if (statement instanceof MacroDefinition macro) {
      macro(macro);
    } else if (statement instanceof CallBlock block) {
      macro(block.body());
    } else if (statement instanceof ForLoop loop) {
      loop(loop);
    } else if (statement instanceof Statements.With with) {
      Symbols inner = new Symbols(this);
      inner.visitAll(with.targets());
      inner.visitAll(with.frame().body());
      inner.close(with.frame());
    } else if (statement instanceof Statements.FilterBlock block) {
      Symbols inner = new Symbols(this);
      inner.visitAll(block.frame().body());
      inner.visit(block.filtered());
      inner.close(block.frame());
    } else if (statement instanceof Statements.AssignBlock assign) {
      Symbols inner = new Symbols(this);
      inner.visitAll(assign.frame().body());
      inner.close(assign.frame());
    }
  }

  private void macro(MacroDefinition macro) {
    Symbols inner = new Symbols(this);
    inner.visitAll(macro.children());
    if (macro.usesCaller()) {
      inner.parameter("caller");
    }
    if (macro.usesNamed()) {
      inner.parameter("kwargs");
    }
    if (macro.usesMore()) {
      inner.parameter("varargs");
    }
    inner.close(macro.frame());
  }

  private void loop(ForLoop loop) {
    Symbols body = new Symbols(this);
    if (loop.extended()) {
      body.parameter("loop");
    }
    body.loopTarget(loop.target());
    body.visitAll(loop.body().body());
    Symbols otherwise = new Symbols(this);
    otherwise.visitAll(loop.otherwise().body());
    if (loop.test() != null) {
      Symbols test = new Symbols(this);
      test.loopTarget(loop.target());
      test.visit(loop.test());
      test.close(loop.testFrame());
    }
    body.close(loop.body());
    otherwise.close(loop.otherwise());
  }

  private void loopTarget(Target target) {
    if (target instanceof Target.Name name) {
      parameter(name.name());
    } else if (target instanceof Target.Tuple tuple) {
      tuple.items().forEach(this::loopTarget);
    }
  }
}
