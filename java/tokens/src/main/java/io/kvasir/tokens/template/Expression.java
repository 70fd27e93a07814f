package io.kvasir.tokens.template;

/** A part of a template that has a value. */
interface Expression extends Node {

  /** Its value. */
  Object eval(Scope scope);
}
