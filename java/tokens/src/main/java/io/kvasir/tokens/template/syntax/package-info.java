/**
 * Templates as they are written. {@code Lexer} cuts one into tokens, {@code StatementParser} and
 * {@code ExpressionParser} parse these into nodes that evaluate themselves, and {@code Symbols}
 * finds what Jinja decides about names when it compiles. {@link
 * io.kvasir.tokens.template.syntax.CompiledTemplate} is the whole of it; a {@code RenderState} is
 * one rendering, and a {@code Scope} has the names of a frame in it.
 *
 * <p>The package does not depend on folders of models, or on limits and their usual values.
 *
 * <p>Tests: through templates, in {@code JinjaChatTemplateTest} and {@code
 * StatementDifferentialTest}.
 */
@NullMarked
package io.kvasir.tokens.template.syntax;

import org.jspecify.annotations.NullMarked;
