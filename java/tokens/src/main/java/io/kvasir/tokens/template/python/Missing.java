package io.kvasir.tokens.template.python;

/**
 * No value at all: an argument that was not given, a name without a value. Never seen by templates.
 */
public enum Missing {
  MISSING
}
