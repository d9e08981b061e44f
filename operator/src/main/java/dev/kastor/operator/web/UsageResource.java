package dev.kastor.operator.web;

import dev.kastor.operator.api.ApiException;
import dev.kastor.operator.usage.UsageLedger;
import dev.kastor.operator.usage.UsageReport;
import dev.kastor.operator.web.OverviewResource.Problem;
import io.vertx.core.http.HttpServerRequest;
import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** GPU time that jobs held and what became of it; for who sees all jobs, whose sums these are. */
@Path("/api/v1/usage")
@Produces(MediaType.APPLICATION_JSON)
public final class UsageResource {
  private static final int USUAL_DAYS = 30;

  private final UsageLedger ledger;
  private final ViewerAccess access;
  private final InstantSource clock;

  UsageResource(UsageLedger ledger, ViewerAccess access, InstantSource clock) {
    this.ledger = ledger;
    this.access = access;
    this.clock = clock;
  }

  /** Usage since a day of UTC, 30 days ago where none is given, by queue where nothing is said. */
  @GET
  public UsageReport usage(
      @QueryParam("by") @Nullable String by,
      @QueryParam("since") @Nullable String since,
      @HeaderParam("Authorization") @Nullable String token,
      @Context HttpServerRequest request)
      throws ApiException {
    if (!access.viewer(token, OverviewResource.remote(request)).seesAll()) {
      throw ApiException.forbidden(
          "usage is for who may list TrainingJobs in all namespaces: its sums are of the jobs of"
              + " all");
    }
    Instant now = clock.instant();
    return UsageReport.of(by(by), day(since, now), now, ledger.rows(now));
  }

  private static UsageReport.By by(@Nullable String by) {
    try {
      return by == null
          ? UsageReport.By.QUEUE
          : UsageReport.By.valueOf(by.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw bad("by must be queue, namespace, user or family");
    }
  }

  private static LocalDate day(@Nullable String since, Instant now) {
    try {
      return since == null
          ? LocalDate.ofInstant(now, ZoneOffset.UTC).minusDays(USUAL_DAYS)
          : LocalDate.parse(since);
    } catch (DateTimeException e) {
      throw bad("since must be a day such as 2026-01-31");
    }
  }

  private static BadRequestException bad(String what) {
    return new BadRequestException(
        Response.status(Response.Status.BAD_REQUEST)
            .type(MediaType.APPLICATION_JSON)
            .entity(new Problem(what))
            .build());
  }
}
