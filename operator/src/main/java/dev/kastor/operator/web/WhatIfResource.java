package dev.kastor.operator.web;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.api.ApiException;
import dev.kastor.operator.forecast.FutureReplays;
import dev.kastor.operator.scheduling.LiveSnapshot;
import dev.kastor.operator.web.OverviewResource.Problem;
import dev.kastor.plugin.Registry;
import dev.kastor.scheduler.live.LiveCluster;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.policy.PolicyPlugin;
import dev.kastor.scheduler.whatif.Answer;
import dev.kastor.scheduler.whatif.OverdueException;
import dev.kastor.scheduler.whatif.Supposition;
import io.vertx.core.http.HttpServerRequest;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Answers to what a change of the cluster would bring, by a replay of its future in the operator.
 * For who sees all jobs. Nothing is changed.
 */
@Path("/api/v1/whatif")
@Produces(MediaType.APPLICATION_JSON)
public final class WhatIfResource {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final FutureReplays replays;
  private final LiveSnapshot snapshot;
  private final ClusterView cluster;
  private final Registry<PolicyPlugin> policies;
  private final ViewerAccess access;

  WhatIfResource(
      FutureReplays replays,
      LiveSnapshot snapshot,
      ClusterView cluster,
      Registry<PolicyPlugin> policies,
      ViewerAccess access) {
    this.replays = replays;
    this.snapshot = snapshot;
    this.cluster = cluster;
    this.policies = policies;
    this.access = access;
  }

  /** Policies, GPU types, queues and jobs that a question may name. */
  @GET
  public WhatIfChoices choices(
      @HeaderParam("Authorization") @Nullable String token, @Context HttpServerRequest request)
      throws ApiException {
    mayKnowAll(token, request);
    return WhatIfChoices.of(snapshot.take(), policies);
  }

  /** What a change would bring. */
  @POST
  @Consumes(MediaType.APPLICATION_JSON)
  public Answer answer(
      @Nullable String question,
      @HeaderParam("Authorization") @Nullable String token,
      @Context HttpServerRequest request)
      throws ApiException {
    mayKnowAll(token, request);
    WhatIfQuestion asked = read(question);
    LiveCluster live = snapshot.take();
    if (live.jobs().size() > FutureReplays.MOST_JOBS) {
      throw problem(
          Response.Status.REQUEST_ENTITY_TOO_LARGE,
          "%d jobs run or wait, and at most %d are replayed here. kastor whatif replays up to %d on your machine."
              .formatted(live.jobs().size(), FutureReplays.MOST_JOBS, SnapshotResource.MOST_JOBS));
    }
    try {
      List<Supposition> suppositions = asked.suppositions();
      if (asked.like() != null) {
        suppositions.add(new Supposition.Added(snapshot.submitted(like(asked.like()))));
      }
      return replays
          .answer(live, suppositions)
          .orElseThrow(() ->
              problem(
                  Response.Status.SERVICE_UNAVAILABLE,
                  "another question is being answered; ask again in half a minute"));
    } catch (OverdueException e) {
      throw problem(
          Response.Status.SERVICE_UNAVAILABLE,
          "%s after %d s. kastor whatif replays on your machine, for longer."
              .formatted(e.getMessage(), FutureReplays.PATIENCE.toSeconds()));
    } catch (IllegalArgumentException e) {
      throw problem(Response.Status.BAD_REQUEST, String.valueOf(e.getMessage()));
    }
  }

  private static WhatIfQuestion read(@Nullable String text) {
    try {
      WhatIfQuestion question = JSON.readValue(text == null ? "" : text, WhatIfQuestion.class);
      if (question != null) {
        return question;
      }
    } catch (JsonProcessingException e) {
      if (e.getCause() instanceof IllegalArgumentException rule) {
        throw problem(Response.Status.BAD_REQUEST, String.valueOf(rule.getMessage()));
      }
    }
    throw problem(
        Response.Status.BAD_REQUEST,
        "the body must be JSON with some of policy, nodes, queue, priority and like, such as"
            + " {\"nodes\": {\"count\": 2, \"gpuType\": \"a100\"}}");
  }

  /** The job as it would be submitted once more, under another name. */
  private TrainingJob like(String text) {
    JobId id = WhatIfQuestion.job(text, "like");
    TrainingJob there =
        cluster
            .job(id)
            .orElseThrow(() -> new IllegalArgumentException("there is no job %s".formatted(id)));
    return SubmittedAgain.of(there);
  }

  private void mayKnowAll(@Nullable String token, HttpServerRequest request) throws ApiException {
    access.checkSeesAll(token, OverviewResource.remote(request), "a replay of the future");
    if (!replays.possible()) {
      throw problem(Response.Status.NOT_FOUND, "this operator has nothing that replays");
    }
  }

  private static WebApplicationException problem(Response.Status status, String what) {
    return new WebApplicationException(
        Response.status(status).type(MediaType.APPLICATION_JSON).entity(new Problem(what)).build());
  }
}
