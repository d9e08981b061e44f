package dev.kastor.operator.web;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.api.ApiException;
import dev.kastor.operator.scheduling.LiveSnapshot;
import dev.kastor.operator.web.OverviewResource.Problem;
import dev.kastor.scheduler.live.JobDocument;
import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.live.LiveDocument;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.vertx.core.http.HttpServerRequest;
import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.ClientErrorException;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import org.jspecify.annotations.Nullable;

/**
 * The cluster as the policy is told of it, from which {@code kastor whatif} replays its future. For
 * who sees all jobs: without the jobs of others no future can be told.
 */
@Path("/api/v1/snapshot")
@Produces(MediaType.APPLICATION_JSON)
public final class SnapshotResource {
  /** Some kilobytes each; replays of more would take longer than anybody waits. */
  static final int MOST_JOBS = 2000;

  private final LiveSnapshot snapshot;
  private final KubernetesClient client;
  private final ViewerAccess access;

  SnapshotResource(LiveSnapshot snapshot, KubernetesClient client, ViewerAccess access) {
    this.snapshot = snapshot;
    this.client = client;
    this.access = access;
  }

  /** The cluster as it is now. */
  @GET
  public LiveDocument now(
      @HeaderParam("Authorization") @Nullable String token, @Context HttpServerRequest request)
      throws ApiException {
    mayKnowAll(token, request);
    LiveCluster cluster = snapshot.take();
    if (cluster.jobs().size() > MOST_JOBS) {
      throw new ClientErrorException(
          problem(
              Response.Status.REQUEST_ENTITY_TOO_LARGE,
              "%d jobs run or wait, and a snapshot has at most %d"
                  .formatted(cluster.jobs().size(), MOST_JOBS)));
    }
    return LiveDocument.of(cluster);
  }

  /** A job as the policy would be told of it, were it submitted now; it is not. */
  @POST
  @Path("/job")
  @Consumes(MediaType.APPLICATION_JSON)
  public JobDocument submitted(
      String job,
      @HeaderParam("Authorization") @Nullable String token,
      @Context HttpServerRequest request)
      throws ApiException {
    mayKnowAll(token, request);
    TrainingJob read = read(job);
    try {
      return JobDocument.of(snapshot.submitted(read));
    } catch (IllegalArgumentException e) {
      throw bad(String.valueOf(e.getMessage()));
    } catch (KubernetesClientException e) {
      throw e;
    } catch (RuntimeException e) {
      // Unlike jobs of the API server it passed no check of the definition's rules.
      throw bad("this is no TrainingJob that an API server would take: check it with --dry-run");
    }
  }

  private TrainingJob read(String text) {
    TrainingJob job;
    try {
      job = client.getKubernetesSerialization().unmarshal(text, TrainingJob.class);
    } catch (RuntimeException e) {
      throw bad("the body must be a TrainingJob as JSON");
    }
    ObjectMeta metadata = job == null ? null : job.getMetadata();
    if (metadata == null
        || metadata.getName() == null
        || metadata.getNamespace() == null
        || job.getSpec() == null) {
      throw bad("the body must be a TrainingJob with metadata.name, metadata.namespace and spec");
    }
    return job;
  }

  private void mayKnowAll(@Nullable String token, HttpServerRequest request) throws ApiException {
    access.checkSeesAll(token, OverviewResource.remote(request), "a snapshot");
  }

  private static BadRequestException bad(String what) {
    return new BadRequestException(problem(Response.Status.BAD_REQUEST, what));
  }

  private static Response problem(Response.Status status, String what) {
    return Response.status(status)
        .type(MediaType.APPLICATION_JSON)
        .entity(new Problem(what))
        .build();
  }
}
