package dev.kastor.operator.web;

import dev.kastor.operator.api.ApiException;
import dev.kastor.operator.scheduling.RecordedRounds;
import dev.kastor.scheduler.live.RecordingDocument;
import io.vertx.core.http.HttpServerRequest;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import org.jspecify.annotations.Nullable;

/**
 * Recording of the cluster since the operator began, which {@code kastor record} fetches. For who
 * sees all jobs.
 */
@Path("/api/v1/recording")
@Produces(MediaType.APPLICATION_JSON)
public final class RecordingResource {
  private final RecordedRounds rounds;
  private final ViewerAccess access;

  RecordingResource(RecordedRounds rounds, ViewerAccess access) {
    this.rounds = rounds;
    this.access = access;
  }

  /** What was recorded until now. */
  @GET
  public RecordingDocument recording(
      @HeaderParam("Authorization") @Nullable String token, @Context HttpServerRequest request)
      throws ApiException {
    access.checkSeesAll(token, OverviewResource.remote(request), "a recording");
    return rounds.recorded();
  }
}
