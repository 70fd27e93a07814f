/** Chat templates of models, as Hugging Face's transformers renders them. */
@NullMarked
package io.kvasir.tokens.template;

import org.jspecify.annotations.NullMarked;
