/**
 * Chat templates of models, rendered as Hugging Face's transformers renders them.
 *
 * <p>{@link io.kvasir.tokens.template.ChatTemplates} reads the templates of a model's folder;
 * {@link io.kvasir.tokens.template.JinjaChatTemplate} compiles one and renders it within {@link
 * io.kvasir.tokens.template.TemplateLimits}. The rooms below have one use each: {@code syntax} cuts
 * and parses templates into nodes that evaluate themselves, {@code library} has the filters, tests,
 * methods and functions that nodes call, {@code python} the values that all of them work on. Each
 * of the three uses those behind it only.
 *
 * <p>What Jinja or Python know and Kvasir does not is refused with its name and place, never
 * guessed: when the template is compiled, or where it depends on values, when it is rendered. The
 * package does not depend on requests, engines and tokens; it uses no reflection.
 *
 * <p>Tests: {@code ChatTemplateVectorsTest}, {@code JinjaChatTemplateTest}, {@code
 * TemplateCostTest}; {@code ExpressionDifferentialTest} and {@code StatementDifferentialTest}
 * compare it with Jinja.
 */
@NullMarked
package io.kvasir.tokens.template;

import org.jspecify.annotations.NullMarked;
