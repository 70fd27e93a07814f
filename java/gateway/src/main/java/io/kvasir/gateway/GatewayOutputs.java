package io.kvasir.gateway;

import io.kvasir.gateway.observe.AccessLog;
import io.kvasir.gateway.observe.TrafficRecording;
import io.opentelemetry.api.OpenTelemetry;
import java.io.OutputStream;

/**
 * Where a gateway writes what it does, besides its metrics. None is closed with the gateway.
 *
 * @param accessLog receives a JSON line for each request, none if it is {@link AccessLog#NOWHERE}
 * @param recording records what is served
 * @param telemetry receives the spans of requests
 */
public record GatewayOutputs(
    OutputStream accessLog, TrafficRecording recording, OpenTelemetry telemetry) {}
