package io.kvasir.tokens.template.syntax;

/** A part of a template that has a value. */
interface Expression extends Node {

  /** Its value. */
  Object eval(Scope scope);
}
