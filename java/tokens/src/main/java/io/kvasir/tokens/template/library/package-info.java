/**
 * What templates can call: filters ({@link io.kvasir.tokens.template.library.Filters}), tests
 * ({@link io.kvasir.tokens.template.library.Tests}), methods of Python's types ({@link
 * io.kvasir.tokens.template.library.Methods}) and functions ({@link
 * io.kvasir.tokens.template.library.Functions}), with {@link
 * io.kvasir.tokens.template.library.Arguments} and the values that only functions make.
 *
 * <p>The package does not depend on how templates are written.
 *
 * <p>Tests: through templates, in {@code ChatTemplateVectorsTest} and {@code
 * ExpressionDifferentialTest}.
 */
@NullMarked
package io.kvasir.tokens.template.library;

import org.jspecify.annotations.NullMarked;
