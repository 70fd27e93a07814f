package io.kvasir.gateway.exchange;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * A request as an upstream receives it. A request can be sent several times, to several upstreams.
 *
 * @param method for example {@code POST}
 * @param target path and query, for example {@code /v1/completions}
 * @param headers the fields, without those of one connection
 * @param body the body in heap memory, empty if there is none; never consumed or released: readers
 *     duplicate it. Null if the caller streams the body through {@link UpstreamCall}
 */
public record UpstreamRequest(
    String method, String target, Headers headers, @Nullable ByteBuf body) {}
