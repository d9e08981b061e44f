package dev.kastor.traces.format;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kastor.traces.TraceException;
import dev.kastor.traces.TraceInput;
import dev.kastor.traces.TraceRow;
import dev.kastor.traces.Workload;
import dev.kastor.traces.Workload.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;

/**
 * {@code cluster_job_log} of Microsoft's Philly clusters (ATC 2019), as the repository
 * msr-fiddle/philly-traces describes it: a JSON array of jobs with their scheduling attempts.
 *
 * <p>A job's size is that of its last attempt, its duration that of all attempts together: an
 * attempt that failed was run again. Jobs that were never run, still ran when the log was taken, or
 * miss a time are skipped.
 */
final class PhillyTrace implements TraceFormat {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Override
  public String name() {
    return "philly";
  }

  @Override
  public String description() {
    return "Philly cluster_job_log (Microsoft, ATC 2019)";
  }

  @Override
  public boolean recognises(TraceHead head) {
    return head.firstLine().startsWith("[") || head.isCalled("cluster_job_log");
  }

  @Override
  public boolean isLog() {
    return true;
  }

  @Override
  public void read(Path file, Sink sink) throws TraceException {
    try (InputStream in = TraceInput.stream(file);
        JsonParser parser = JSON.getFactory().createParser(in)) {
      if (parser.nextToken() != JsonToken.START_ARRAY) {
        throw new TraceException(
            "%s, line 1: a Philly log is a JSON array of jobs".formatted(file));
      }
      while (parser.nextToken() == JsonToken.START_OBJECT) {
        FileLine where = new FileLine(file, parser.currentTokenLocation().getLineNr());
        JsonNode job = parser.readValueAsTree();
        read(job, where, sink);
      }
      if (parser.currentToken() != JsonToken.END_ARRAY) {
        throw new FileLine(file, parser.currentTokenLocation().getLineNr())
            .problem("", "a Philly log is a JSON array of jobs, each in braces");
      }
    } catch (IOException e) {
      throw TraceException.unreadable(file, e);
    }
  }

  private static void read(JsonNode job, TraceRow where, Sink sink) throws TraceException {
    String name = text(job, "jobid", where);
    double submitted = LogTime.seconds(text(job, "submitted_time", where), "submitted_time", where);
    Outcome outcome = outcome(text(job, "status", where), where);
    JsonNode attempts = job.path("attempts");
    if (attempts.isEmpty()) {
      sink.skip("never ran");
      return;
    }
    double duration = 0;
    for (JsonNode attempt : attempts) {
      if (!isTime(attempt.path("start_time")) || !isTime(attempt.path("end_time"))) {
        sink.skip("still running, or without times");
        return;
      }
      duration +=
          LogTime.seconds(attempt.path("end_time").asText(), "end_time", where)
              - LogTime.seconds(attempt.path("start_time").asText(), "start_time", where);
    }
    int gpus = 0;
    for (JsonNode server : attempts.get(attempts.size() - 1).path("detail")) {
      gpus += server.path("gpus").size();
    }
    if (gpus == 0 || !(duration > 0)) {
      sink.skip("never ran");
    } else {
      sink.job(Workload.Job.timed(name, submitted, gpus, duration, outcome), where);
    }
  }

  private static boolean isTime(JsonNode node) {
    return node.isTextual() && !node.asText().isBlank() && !node.asText().equals("None");
  }

  private static String text(JsonNode job, String key, TraceRow where) throws TraceException {
    JsonNode value = job.path(key);
    if (!value.isTextual() || value.asText().isBlank()) {
      throw where.problem(key, "the job has no such text");
    }
    return value.asText();
  }

  private static Outcome outcome(String status, TraceRow where) throws TraceException {
    return switch (status) {
      case "Pass" -> Outcome.COMPLETED;
      case "Killed" -> Outcome.KILLED;
      case "Failed" -> Outcome.FAILED;
      default ->
          throw where.problem("status", "'%s' must be Pass, Killed or Failed".formatted(status));
    };
  }
}
