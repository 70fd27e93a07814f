/**
 * ADP ranks of this process as an OpenAI engine. Requests run in real pools, under the real ADP
 * routers and schedulers; only the computation is modelled, in real time. Answers are synthetic.
 */
@NullMarked
package io.kvasir.embedded;

import org.jspecify.annotations.NullMarked;
