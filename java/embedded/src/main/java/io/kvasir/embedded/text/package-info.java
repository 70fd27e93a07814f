/**
 * A language model as an engine. {@link io.kvasir.embedded.text.TextModel} is the port: a model
 * that continues one prompt at a time. {@link io.kvasir.embedded.text.TextModelEngine} has a queue
 * and a thread in front of it, and the endpoints that every engine has.
 *
 * <p>The package does not depend on ranks, pools or published events.
 *
 * <p>Tests: {@code TextModelEngineTest}.
 */
@NullMarked
package io.kvasir.embedded.text;

import org.jspecify.annotations.NullMarked;
