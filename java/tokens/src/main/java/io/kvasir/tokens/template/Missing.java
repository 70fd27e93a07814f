package io.kvasir.tokens.template;

/**
 * No value at all: an argument that was not given, a name without a value. Never seen by templates.
 */
enum Missing {
  MISSING
}
