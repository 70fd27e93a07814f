package io.kvasir.tokens.template.syntax;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** A part of a parsed template. Immutable once the template is compiled. */
interface Node {

  /** Where it begins in the source. */
  int at();

  /** Its parts, in the order in which names in them are resolved. */
  List<Node> children();

  /** A part without parts. */
  interface Leaf extends Node {

    @Override
    default List<Node> children() {
      return List.of();
    }
  }

  /** Lists of parts, one behind the other. */
  static List<Node> all(List<? extends Collection<? extends Node>> parts) {
    List<Node> all = new ArrayList<>();
    parts.forEach(all::addAll);
    return all;
  }
}
