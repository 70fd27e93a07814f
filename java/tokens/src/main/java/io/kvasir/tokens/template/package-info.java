/**
 * Chat templates of models, rendered as Hugging Face's transformers renders them.
 *
 * <p>{@link io.kvasir.tokens.template.ChatTemplates} reads the templates of a model's folder;
 * {@link io.kvasir.tokens.template.JinjaChatTemplate} compiles one and renders it. A template is
 * cut into tokens ({@code Lexer}), parsed ({@code StatementParser}, {@code ExpressionParser}) into
 * nodes that evaluate themselves, and checked: {@code Symbols} finds what Jinja decides about names
 * when it compiles. Values are plain Java values where that is possible; {@code PythonValues},
 * {@code PythonOrder}, {@code Operators} and {@code PythonRepr} give them Python's semantics.
 *
 * <p>What Jinja or Python know and this package does not is refused with its name and place, never
 * guessed: when the template is compiled, or where it depends on values, when it is rendered. The
 * package knows nothing of requests, engines and tokens; it uses no reflection.
 */
@NullMarked
package io.kvasir.tokens.template;

import org.jspecify.annotations.NullMarked;
