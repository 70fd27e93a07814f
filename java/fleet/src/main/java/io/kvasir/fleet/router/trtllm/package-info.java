/**
 * Which instance serves which request.
 *
 * <p>A {@link io.kvasir.fleet.router.trtllm.ServeRouter} chooses one server (an instance with its
 * own ADP router inside) for one request at a time, and is told when the request is done. {@link
 * io.kvasir.fleet.router.trtllm.ServeRouterKind} names the routers there are and makes them. What
 * happens before and after the choice is here too, as pure functions: {@link
 * io.kvasir.fleet.router.trtllm.ConversationIds} finds a request's conversation and {@link
 * io.kvasir.fleet.router.trtllm.DisaggFlow} splits a request into its context and its generation
 * part.
 *
 * <p>The package speaks no HTTP and starts no thread: tokenisers, event sources and executors are
 * ports. It knows nothing of ranks, pools or time.
 */
package io.kvasir.fleet.router.trtllm;
