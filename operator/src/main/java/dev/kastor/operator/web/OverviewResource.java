package dev.kastor.operator.web;

import dev.kastor.operator.cluster.Decisions;
import dev.kastor.operator.history.JobHistory;
import dev.kastor.operator.history.JobStory;
import dev.kastor.operator.web.HistoryView.TimelineView;
import dev.kastor.scheduler.JobId;
import io.smallrye.mutiny.Multi;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.List;
import java.util.Optional;
import org.jboss.resteasy.reactive.RestStreamElementType;

/** The read-only JSON API that the page lives on; {@code docs/web.md} describes it. */
@Path("/api/v1")
@Produces(MediaType.APPLICATION_JSON)
public final class OverviewResource {
  private final OverviewBuilder builder;
  private final OverviewFeed feed;
  private final JobHistory history;
  private final ClusterView cluster;
  private final Decisions decisions;

  /** An error as every Kastor API answers it. */
  public record Problem(String error) {}

  OverviewResource(
      OverviewBuilder builder,
      OverviewFeed feed,
      JobHistory history,
      ClusterView cluster,
      Decisions decisions) {
    this.builder = builder;
    this.feed = feed;
    this.history = history;
    this.cluster = cluster;
    this.decisions = decisions;
  }

  /** The cluster and every job. */
  @GET
  @Path("/overview")
  public Overview overview() {
    return builder.build();
  }

  /** The overview, at once and whenever it changed, as Server-Sent Events. */
  @GET
  @Path("/events")
  @Produces(MediaType.SERVER_SENT_EVENTS)
  @RestStreamElementType(MediaType.APPLICATION_JSON)
  public Multi<Overview> events() {
    return feed.changes();
  }

  /** The allocations of all jobs over time. */
  @GET
  @Path("/timeline")
  public List<TimelineView> timeline() {
    return history.timelines().stream()
        .map(entry -> TimelineView.of(entry.getKey(), entry.getValue()))
        .toList();
  }

  /** The queues with what they hold and what they deserve. */
  @GET
  @Path("/queues")
  public List<QueueRow> queues() {
    return builder.queues();
  }

  /** What the newest round decided on a job. */
  @GET
  @Path("/jobs/{namespace}/{name}/decision")
  public DecisionView decision(
      @PathParam("namespace") String namespace, @PathParam("name") String name) {
    JobId id = new JobId(namespace, name);
    return decisions
        .of(id)
        .map(decision -> DecisionView.of(id, decision))
        .orElseThrow(() -> notFound("no round has decided on job " + id + " yet, or it has ended"));
  }

  /** Measurements and allocations of one job over time. */
  @GET
  @Path("/jobs/{namespace}/{name}/history")
  public HistoryView history(
      @PathParam("namespace") String namespace, @PathParam("name") String name) {
    JobId id = new JobId(namespace, name);
    return history
        .story(id)
        .or(() -> cluster.has(id) ? Optional.of(JobStory.empty(id)) : Optional.empty())
        .map(HistoryView::of)
        .orElseThrow(() -> notFound("no such job: " + id));
  }

  private static NotFoundException notFound(String what) {
    return new NotFoundException(
        Response.status(Response.Status.NOT_FOUND)
            .type(MediaType.APPLICATION_JSON)
            .entity(new Problem(what))
            .build());
  }
}
