package dev.kastor.operator.api;

import dev.kastor.operator.metrics.Metrics;
import io.prometheus.client.exporter.common.TextFormat;
import io.smallrye.common.annotation.RunOnVirtualThread;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import java.io.StringWriter;
import org.eclipse.microprofile.openapi.annotations.Operation;

/** The metrics in Prometheus' text format. */
@Path("/metrics")
public final class MetricsPage {
  private final Metrics metrics;

  public MetricsPage(Metrics metrics) {
    this.metrics = metrics;
  }

  /** All metrics. */
  @GET
  @RunOnVirtualThread
  @Operation(hidden = true)
  public Response metrics() throws IOException {
    var text = new StringWriter();
    TextFormat.write004(text, metrics.registry().metricFamilySamples());
    return Response.ok(text.toString()).type(TextFormat.CONTENT_TYPE_004).build();
  }
}
