package dev.kastor.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.mockwebserver.http.Headers;
import io.fabric8.mockwebserver.http.RecordedRequest;
import io.fabric8.mockwebserver.utils.ResponseProvider;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.NullUnmarked;

/** Answers dry runs of pods: one whose first container has a port of 0 is refused. */
// The mock server calls with what it received.
@NullUnmarked
final class DryRun implements ResponseProvider<Object> {
  private Headers headers = Headers.builder().build();

  @Override
  public int getStatusCode(RecordedRequest request) {
    return bad(request) ? 422 : 201;
  }

  @Override
  public Object getBody(RecordedRequest request) {
    return bad(request)
        ? new StatusBuilder()
            .withCode(422)
            .withMessage("Pod is invalid")
            .withNewDetails()
            .addNewCause("spec.containers[0].ports[0].containerPort", "Required value", "Required")
            .endDetails()
            .build()
        : pod(request);
  }

  @Override
  public Headers getHeaders() {
    return headers;
  }

  @Override
  public void setHeaders(Headers headers) {
    this.headers = headers;
  }

  private static boolean bad(RecordedRequest request) {
    var ports = pod(request).getSpec().getContainers().getFirst().getPorts();
    return !ports.isEmpty() && ports.getFirst().getContainerPort() == 0;
  }

  private static Pod pod(RecordedRequest request) {
    return Serialization.unmarshal(
        new String(request.getBody().getBytes(), StandardCharsets.UTF_8), Pod.class);
  }
}
