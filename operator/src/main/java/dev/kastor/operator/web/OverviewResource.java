package dev.kastor.operator.web;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus;
import dev.kastor.operator.api.ApiException;
import dev.kastor.operator.history.JobHistory;
import dev.kastor.operator.history.JobStory;
import dev.kastor.operator.history.StoredCurves;
import dev.kastor.operator.scheduling.Decisions;
import dev.kastor.operator.web.HistoryView.TimelineView;
import dev.kastor.scheduler.model.JobId;
import io.smallrye.common.annotation.Blocking;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import io.vertx.core.http.HttpServerRequest;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.ServiceUnavailableException;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.List;
import java.util.Optional;
import org.jboss.resteasy.reactive.RestStreamElementType;
import org.jspecify.annotations.Nullable;

/** The read-only JSON API that the page lives on; {@code docs/web.md} describes it. */
@Path("/api/v1")
@Produces(MediaType.APPLICATION_JSON)
public final class OverviewResource {
  private final OverviewBuilder builder;
  private final OverviewFeed feed;
  private final JobHistory history;
  private final ClusterView cluster;
  private final Decisions decisions;
  private final ViewerAccess access;
  private final ModelExport models;

  /** An error as every Kastor API answers it. */
  public record Problem(String error) {}

  OverviewResource(
      OverviewBuilder builder,
      OverviewFeed feed,
      JobHistory history,
      ClusterView cluster,
      Decisions decisions,
      ViewerAccess access,
      ModelExport models) {
    this.access = access;
    this.models = models;
    this.builder = builder;
    this.feed = feed;
    this.history = history;
    this.cluster = cluster;
    this.decisions = decisions;
  }

  /** The cluster and every job. */
  @GET
  @Path("/overview")
  public Overview overview(
      @HeaderParam("Authorization") @Nullable String token, @Context HttpServerRequest request)
      throws ApiException {
    // Who may not see it must not cost more than saying so.
    Viewer viewer = viewer(token, request);
    return Filtered.overview(builder.build(), viewer);
  }

  /** The overview, at once and whenever it changed, as Server-Sent Events. */
  @GET
  @Path("/events")
  @Produces(MediaType.SERVER_SENT_EVENTS)
  @RestStreamElementType(MediaType.APPLICATION_JSON)
  @Blocking
  public Multi<Overview> events(
      @HeaderParam("Authorization") @Nullable String token, @Context HttpServerRequest request)
      throws ApiException {
    Viewer first = viewer(token, request);
    if (feed.isFull()) {
      throw new ServiceUnavailableException(
          problem(
              Response.Status.SERVICE_UNAVAILABLE,
              "%d pages are connected, and no more may be; close one or try again later"
                  .formatted(OverviewFeed.MOST)));
    }
    if (first.equals(Viewer.ANYONE)) {
      return feed.changes();
    }
    String remote = remote(request);
    // A token that ends, ends the stream as well.
    return feed.changes()
        // The API server may be asked, and whoever subscribes must not wait.
        .emitOn(Infrastructure.getDefaultWorkerPool())
        .map(all -> seenBy(all, token, remote))
        .select()
        .first(Optional::isPresent)
        .map(Optional::orElseThrow);
  }

  private Optional<Overview> seenBy(Overview all, @Nullable String token, String remote) {
    try {
      return Optional.of(Filtered.overview(all, access.viewer(token, remote)));
    } catch (ApiException e) {
      return Optional.empty();
    }
  }

  /** The allocations of all jobs over time. */
  @GET
  @Path("/timeline")
  public List<TimelineView> timeline(
      @HeaderParam("Authorization") @Nullable String token, @Context HttpServerRequest request)
      throws ApiException {
    Viewer viewer = viewer(token, request);
    return Filtered.timelines(
        history.timelines().stream()
            .map(entry -> TimelineView.of(entry.getKey(), entry.getValue()))
            .toList(),
        viewer);
  }

  /** The queues with what they hold and what they deserve. */
  @GET
  @Path("/queues")
  public List<QueueRow> queues(
      @HeaderParam("Authorization") @Nullable String token, @Context HttpServerRequest request)
      throws ApiException {
    return builder.queues(viewer(token, request));
  }

  /** What the newest round decided on a job. */
  @GET
  @Path("/jobs/{namespace}/{name}/decision")
  public DecisionView decision(
      @PathParam("namespace") String namespace,
      @PathParam("name") String name,
      @HeaderParam("Authorization") @Nullable String token,
      @Context HttpServerRequest request)
      throws ApiException {
    mayGet(namespace, viewer(token, request));
    JobId id = new JobId(namespace, name);
    return decisions
        .of(id)
        .map(decision -> DecisionView.of(id, decision, cluster.expectedEnd(id)))
        .orElseThrow(() -> notFound("no round has decided on job " + id + " yet, or it has ended"));
  }

  /** Measurements and allocations of one job over time. */
  @GET
  @Path("/jobs/{namespace}/{name}/history")
  public HistoryView history(
      @PathParam("namespace") String namespace,
      @PathParam("name") String name,
      @HeaderParam("Authorization") @Nullable String token,
      @Context HttpServerRequest request)
      throws ApiException {
    mayGet(namespace, viewer(token, request));
    JobId id = new JobId(namespace, name);
    Optional<TrainingJob> job = cluster.job(id);
    String stored = job.map(TrainingJob::getStatus).map(TrainingJobStatus::curves).orElse(null);
    return history
        .story(id)
        .or(() -> job.map(known -> JobStory.empty(id)))
        .map(story ->
            HistoryView.of(
                StoredCurves.completed(story, stored), job.flatMap(cluster::servers).orElse(null)))
        .orElseThrow(() -> notFound("no such job: " + id));
  }

  /** The model of a job's newest checkpoint, exported now, for the page that computes it. */
  @GET
  @Path("/jobs/{namespace}/{name}/model.onnx")
  @Produces(MediaType.APPLICATION_OCTET_STREAM)
  public byte[] model(
      @PathParam("namespace") String namespace,
      @PathParam("name") String name,
      @HeaderParam("Authorization") @Nullable String token,
      @Context HttpServerRequest request)
      throws ApiException {
    mayGet(namespace, viewer(token, request));
    JobId id = new JobId(namespace, name);
    if (cluster.job(id).isEmpty()) {
      throw notFound("no such job: " + id);
    }
    try {
      return models.onnx(id);
    } catch (ModelExport.Unavailable e) {
      String why = String.valueOf(e.getMessage());
      throw e.later()
          ? new ServiceUnavailableException(problem(Response.Status.SERVICE_UNAVAILABLE, why))
          : notFound(why);
    }
  }

  private Viewer viewer(@Nullable String token, HttpServerRequest request) throws ApiException {
    return access.viewer(token, remote(request));
  }

  static String remote(HttpServerRequest request) {
    return request.remoteAddress() == null
        ? ""
        : String.valueOf(request.remoteAddress().hostAddress());
  }

  /** The same answer whether there is such a job or not. */
  private static void mayGet(String namespace, Viewer viewer) throws ApiException {
    if (!viewer.gets(namespace)) {
      throw ApiException.forbidden(
          "you may not get TrainingJobs of namespace %s".formatted(namespace));
    }
  }

  private static NotFoundException notFound(String what) {
    return new NotFoundException(problem(Response.Status.NOT_FOUND, what));
  }

  private static Response problem(Response.Status status, String what) {
    return Response.status(status)
        .type(MediaType.APPLICATION_JSON)
        .entity(new Problem(what))
        .build();
  }
}
