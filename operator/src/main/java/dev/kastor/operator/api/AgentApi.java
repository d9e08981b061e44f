package dev.kastor.operator.api;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.operator.gang.GangProgress;
import dev.kastor.operator.http.Connections;
import dev.kastor.operator.membership.MembershipService;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.operator.telemetry.TelemetryStore;
import dev.kastor.protocol.Membership;
import dev.kastor.protocol.ReplicaStart;
import dev.kastor.protocol.ReplicaState;
import dev.kastor.protocol.StepCount;
import dev.kastor.protocol.Switch;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.model.JobId;
import io.smallrye.common.annotation.RunOnVirtualThread;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SecuritySchemeType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.security.SecurityRequirement;
import org.eclipse.microprofile.openapi.annotations.security.SecurityScheme;
import org.jspecify.annotations.Nullable;

/** The resource that replicas call: telemetry up, membership down. On the TLS port only. */
@Path("/v1/jobs/{namespace}/{name}")
@SecurityScheme(
    securitySchemeName = "podToken",
    type = SecuritySchemeType.HTTP,
    scheme = "bearer",
    description = "Projected service-account token of the pod, audience kastor/<namespace>/<job>")
@SecurityRequirement(name = "podToken")
@Produces(MediaType.APPLICATION_JSON)
public final class AgentApi {
  private static final long LONGEST_WAIT_SECONDS = 30;
  private static final Pattern ADDRESS = Pattern.compile("[A-Za-z0-9.:\\[\\]_-]{1,260}:[0-9]{1,5}");

  /** Who may ask what a route answers. */
  private interface Check {
    AgentIdentity.Caller caller(@Nullable String authorization, JobId id, String remote)
        throws ApiException;
  }

  private final AgentIdentity identity;
  private final TelemetryStore telemetry;
  private final MembershipService membership;
  private final GangProgress gangs;
  private final Quarantine quarantine;
  private final Connections connections;
  private final Metrics metrics;

  public AgentApi(
      AgentIdentity identity,
      TelemetryStore telemetry,
      MembershipService membership,
      GangProgress gangs,
      Quarantine quarantine,
      Connections connections,
      Metrics metrics) {
    this.identity = identity;
    this.quarantine = quarantine;
    this.connections = connections;
    this.telemetry = telemetry;
    this.membership = membership;
    this.gangs = gangs;
    this.metrics = metrics;
  }

  /** Takes in a report. */
  @POST
  @Path("/telemetry")
  @Consumes(MediaType.APPLICATION_JSON)
  @RunOnVirtualThread
  @Operation(
      operationId = "report",
      summary = "Report what the replicas of a job measured",
      description =
          "At most 64 KiB. A report whose sequence is not above the sender's last is ignored, so"
              + " that retries are safe.")
  @RequestBody(content = @Content(schema = @Schema(implementation = TelemetryReport.class)))
  @APIResponse(responseCode = "204", description = "Taken in")
  @APIResponse(responseCode = "400", description = "Bad body; the error names the field")
  @APIResponse(responseCode = "401", description = "No token or a bad one")
  @APIResponse(
      responseCode = "403",
      description = "Token of another job or pod, or of a worker of parameter servers")
  @APIResponse(responseCode = "404", description = "No such job")
  @APIResponse(responseCode = "409", description = "Of a generation that was never published")
  @APIResponse(responseCode = "411", description = "Without a Content-Length")
  @APIResponse(responseCode = "413", description = "Too large")
  @APIResponse(responseCode = "415", description = "Not plain application/json")
  @APIResponse(responseCode = "429", description = "Too often, or too many bad reports of the job")
  public void report(
      @PathParam("namespace") String namespace,
      @PathParam("name") String name,
      @Context HttpServerRequest request,
      InputStream body)
      throws ApiException, IOException {
    JobId id = new JobId(namespace, name);
    AgentIdentity.Caller caller = caller(id, request, identity::replica);
    if (!caller.reports()) {
      // Before the quarantine: no worker is to end the reports of the server.
      throw ApiException.forbidden(
          "job %s is reported on by its parameter server 0, not by pod %s"
              .formatted(id, caller.pod()));
    }
    quarantine.admit(id);
    try {
      telemetry.accept(caller.job(), checked(ReportReader.read(body, length(request)), caller, id));
    } catch (ApiException e) {
      quarantine.bad(id, String.valueOf(e.getMessage()));
      throw e;
    }
  }

  private TelemetryReport checked(TelemetryReport report, AgentIdentity.Caller caller, JobId id)
      throws ApiException {
    if (!report.namespace().equals(id.namespace()) || !report.job().equals(id.name())) {
      throw ApiException.forbidden(
          "the report is of job %s/%s, not of %s".formatted(report.namespace(), report.job(), id));
    }
    if (!report.pod().equals(caller.pod())) {
      throw ApiException.forbidden(
          "the report is of pod %s, the token of pod %s".formatted(report.pod(), caller.pod()));
    }
    published(caller.job(), report.generation());
    for (Switch lived : report.switches()) {
      published(caller.job(), lived.generation());
    }
    return report;
  }

  /** Nobody can be in a generation that the operator has not stored. */
  private void published(TrainingJob job, long generation) throws ApiException {
    long newest = membership.newest(job);
    if (generation > newest) {
      throw ApiException.conflict(
          "generation %d was never published; the newest is %d".formatted(generation, newest));
    }
  }

  /** Takes in how many steps a gang has taken. */
  @POST
  @Path("/steps")
  @Consumes(MediaType.APPLICATION_JSON)
  @RunOnVirtualThread
  @Operation(
      operationId = "steps",
      summary = "Say how many steps a gang with elastic.rescale: Restart has taken",
      description =
          "The pod of rank 0 counts for all. Its speed is what the counts grow by in the time"
              + " between them.")
  @RequestBody(content = @Content(schema = @Schema(implementation = StepCount.class)))
  @APIResponse(responseCode = "204", description = "Taken in")
  @APIResponse(responseCode = "400", description = "Bad body; the error names the field")
  @APIResponse(responseCode = "401", description = "No token or a bad one")
  @APIResponse(responseCode = "403", description = "Token of another job, or the job counts none")
  @APIResponse(responseCode = "404", description = "No such job")
  @APIResponse(responseCode = "409", description = "Of another rank or of a start that is over")
  @APIResponse(responseCode = "411", description = "Without a Content-Length")
  @APIResponse(responseCode = "413", description = "Too large")
  @APIResponse(responseCode = "415", description = "Not plain application/json")
  @APIResponse(responseCode = "429", description = "Too often, or too many bad counts of the job")
  public void steps(
      @PathParam("namespace") String namespace,
      @PathParam("name") String name,
      @Context HttpServerRequest request,
      InputStream body)
      throws ApiException, IOException {
    JobId id = new JobId(namespace, name);
    AgentIdentity.Caller caller = caller(id, request, identity::gangPod);
    quarantine.admit(id);
    Optional<String> refusal;
    try {
      refusal = count(caller, ReportReader.readCount(body, length(request)));
    } catch (ApiException e) {
      quarantine.bad(id, String.valueOf(e.getMessage()));
      throw e;
    }
    // Nothing bad: a pod that is told to end may still count.
    if (refusal.isPresent()) {
      throw ApiException.conflict(refusal.get());
    }
  }

  private Optional<String> count(AgentIdentity.Caller caller, StepCount count) throws ApiException {
    try {
      return gangs.count(caller.job(), caller.pod(), count);
    } catch (IllegalArgumentException e) {
      throw ApiException.badRequest(String.valueOf(e.getMessage()));
    }
  }

  /** Waits for the next generation. */
  @GET
  @Path("/membership")
  @RunOnVirtualThread
  @Operation(
      operationId = "membership",
      summary = "Wait for a membership newer than the one the replica is in",
      description = "Answers with action WAIT if there is nothing new when the time is up.")
  @APIResponse(
      responseCode = "200",
      description = "The newest membership, or WAIT",
      content = @Content(schema = @Schema(implementation = Membership.class)))
  @APIResponse(responseCode = "400", description = "Bad parameter; the error names it")
  @APIResponse(responseCode = "401", description = "No token or a bad one")
  @APIResponse(responseCode = "403", description = "Token of another job or pod")
  @APIResponse(responseCode = "404", description = "No such job")
  @APIResponse(responseCode = "409", description = "In a generation that was never published")
  @APIResponse(responseCode = "429", description = "Too often")
  public Membership membership(
      @PathParam("namespace") String namespace,
      @PathParam("name") String name,
      @QueryParam("pod") @Nullable String pod,
      @QueryParam("address") @DefaultValue("") String address,
      @QueryParam("generation") @DefaultValue("0") String generation,
      @QueryParam("phase") @Nullable String phase,
      @QueryParam("step") @DefaultValue("-1") String step,
      @QueryParam("waiting") @DefaultValue("false") boolean waiting,
      @QueryParam("doing") @DefaultValue("TRAIN") String doing,
      @QueryParam("client") @DefaultValue("") String client,
      @QueryParam("mostExamples") @DefaultValue("0") String mostExamples,
      @QueryParam("start") @Nullable String start,
      @QueryParam("wait") @DefaultValue("0") String wait,
      @Context HttpServerRequest request)
      throws ApiException, InterruptedException {
    JobId id = new JobId(namespace, name);
    AgentIdentity.Caller caller = caller(id, request, identity::replica);
    if (!caller.pod().equals(pod)) {
      throw ApiException.forbidden(
          "the request is of pod %s, the token of pod %s".formatted(pod, caller.pod()));
    }
    ReplicaState state;
    try {
      state =
          new ReplicaState(
              caller.pod(),
              address(address),
              number("generation", generation),
              oneOf("phase", ReplicaState.Phase.values(), phase),
              number("step", step),
              waiting,
              oneOf("doing", ReplicaState.Doing.values(), doing),
              client,
              Math.toIntExact(Math.min(Integer.MAX_VALUE, number("mostExamples", mostExamples))),
              start == null ? null : ReplicaStart.parse(start));
    } catch (IllegalArgumentException e) {
      throw ApiException.badRequest(String.valueOf(e.getMessage()));
    }
    published(caller.job(), state.generation());
    long seconds = Math.clamp(number("wait", wait), 0, LONGEST_WAIT_SECONDS);
    metrics.polling(1);
    try {
      return membership.poll(caller.job(), state, Duration.ofSeconds(seconds));
    } finally {
      metrics.polling(-1);
    }
  }

  /** Checks who asks; the token is not kept with a request that may be held for half a minute. */
  private AgentIdentity.Caller caller(JobId id, HttpServerRequest request, Check check)
      throws ApiException {
    String authorization = request.getHeader(HttpHeaders.AUTHORIZATION);
    request.headers().remove(HttpHeaders.AUTHORIZATION);
    AgentIdentity.Caller caller = check.caller(authorization, id, remote(request));
    connections.vouch(request, id.namespace() + "/" + caller.pod());
    return caller;
  }

  private static String remote(HttpServerRequest request) {
    return request.remoteAddress() == null
        ? ""
        : String.valueOf(request.remoteAddress().hostAddress());
  }

  /** How long the body is by its sender's word; -1 if there is none that can be true. */
  private static long length(HttpServerRequest request) {
    try {
      String told = request.getHeader(HttpHeaders.CONTENT_LENGTH);
      return told == null ? -1 : Long.parseLong(told);
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private static long number(String name, String text) throws ApiException {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw ApiException.badRequest("%s must be a whole number but is '%s'".formatted(name, text));
    }
  }

  private static <E extends Enum<E>> E oneOf(String name, E[] values, @Nullable String text)
      throws ApiException {
    for (E value : values) {
      if (value.name().equals(text)) {
        return value;
      }
    }
    throw ApiException.badRequest(
        "%s must be one of %s but is '%s'".formatted(name, List.of(values), text));
  }

  private static String address(String text) throws ApiException {
    if (text.isEmpty() || ADDRESS.matcher(text).matches()) {
      return text;
    }
    throw ApiException.badRequest("address must be host:port");
  }
}
