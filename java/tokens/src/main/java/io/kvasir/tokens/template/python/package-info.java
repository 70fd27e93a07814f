/**
 * Python's values and what the language itself does with them. Values are plain Java values where
 * that is possible, and {@link io.kvasir.tokens.template.python.PythonValue}s elsewhere; {@link
 * io.kvasir.tokens.template.python.PythonValues}, {@link
 * io.kvasir.tokens.template.python.PythonOrder}, {@link io.kvasir.tokens.template.python.Operators}
 * and {@link io.kvasir.tokens.template.python.PythonRepr} give them Python's semantics. Work is
 * counted in a {@link io.kvasir.tokens.template.python.Budget}; a {@link
 * io.kvasir.tokens.template.python.TemplateFault} says what failed.
 *
 * <p>The package does not depend on templates, or on what they can call.
 *
 * <p>Tests: {@code BudgetTest}, {@code TextSearchTest}; the values are tested through templates.
 */
@NullMarked
package io.kvasir.tokens.template.python;

import org.jspecify.annotations.NullMarked;
