package dev.kastor.traces.format;

import dev.kastor.traces.TraceException;
import dev.kastor.traces.TraceInput;
import dev.kastor.traces.TraceRow;
import dev.kastor.traces.Workload;
import dev.kastor.traces.Workload.Outcome;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Accounting of Slurm as {@code sacct --parsable2} prints it: a header and a line for each job,
 * with bars between the fields, in any order.
 *
 * <p>Steps of jobs are left out; so are jobs that use no GPU, never ran or still run, and those in
 * a state that Slurm's manual does not name. GPUs are what was allocated, else what was asked for.
 */
final class SlurmTrace implements TraceFormat {
  private static final List<String> REQUIRED = List.of("JobID", "Submit", "Start", "End", "State");

  /** A requeued job is printed once more for each earlier run with {@code --duplicates}. */
  private static final Pattern STEP = Pattern.compile(".*\\d\\..+");

  private static final Set<String> FAILED =
      Set.of("FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "LAUNCH_FAILED");
  private static final Set<String> KILLED =
      Set.of("CANCELLED", "TIMEOUT", "PREEMPTED", "DEADLINE", "REVOKED");
  private static final Set<String> UNFINISHED =
      Set.of(
          "RUNNING",
          "PENDING",
          "REQUEUED",
          "RESIZING",
          "SUSPENDED",
          "COMPLETING",
          "CONFIGURING",
          "STOPPED",
          "SIGNALING",
          "STAGE_OUT");

  private static final Pattern GPUS = Pattern.compile("gres/gpu(?::[^=]*)?=([^,]*)");
  private static final Pattern ALL_GPUS = Pattern.compile("(?:^|,)gres/gpu=([^,]*)");

  @Override
  public String name() {
    return "slurm";
  }

  @Override
  public String description() {
    return "Slurm accounting (sacct --parsable2)";
  }

  @Override
  public boolean recognises(TraceHead head) {
    return fields(head.firstLine()).contains("JobID") && head.firstLine().contains("|");
  }

  @Override
  public boolean isLog() {
    return true;
  }

  private static List<String> fields(String line) {
    return List.of(line.split("\\|", -1));
  }

  @Override
  public void read(Path file, Sink sink) throws TraceException {
    try (BufferedReader text = TraceInput.open(file)) {
      Map<String, Integer> columns = null;
      int number = 0;
      for (String line = text.readLine(); line != null; line = text.readLine()) {
        number++;
        if (line.isBlank()) {
          continue;
        }
        FileLine where = new FileLine(file, number);
        if (columns == null) {
          columns = columns(fields(line), where);
        } else {
          new Row(columns, fields(line), where).read(sink);
        }
      }
    } catch (IOException | UncheckedIOException e) {
      throw TraceException.unreadable(file, e);
    }
  }

  private static Map<String, Integer> columns(List<String> header, TraceRow where)
      throws TraceException {
    Map<String, Integer> columns = new HashMap<>();
    for (int c = 0; c < header.size(); c++) {
      columns.put(header.get(c).strip(), c);
    }
    for (String name : REQUIRED) {
      if (!columns.containsKey(name)) {
        throw where.problem("", "the header has no field %s".formatted(name));
      }
    }
    if (!columns.containsKey("AllocTRES") && !columns.containsKey("ReqTRES")) {
      throw where.problem("", "the header has neither field AllocTRES nor ReqTRES");
    }
    return columns;
  }

  /** A line of the log. */
  private record Row(Map<String, Integer> columns, List<String> fields, TraceRow where) {
    void read(Sink sink) throws TraceException {
      if (fields.size() != columns.size()) {
        throw where.problem(
            "",
            "it has %d fields, not %d. Print no field that may hold a bar, such as JobName."
                .formatted(fields.size(), columns.size()));
      }
      String id = text("JobID");
      if (STEP.matcher(id).matches()) {
        sink.skip("a step of a job");
        return;
      }
      // "CANCELLED by 1000" names the user.
      String state = text("State").split(" ", 2)[0].replaceFirst("\\+$", "");
      Outcome outcome;
      if (state.equals("COMPLETED")) {
        outcome = Outcome.COMPLETED;
      } else if (FAILED.contains(state)) {
        outcome = Outcome.FAILED;
      } else if (KILLED.contains(state)) {
        outcome = Outcome.KILLED;
      } else {
        sink.skip(UNFINISHED.contains(state) ? "has not ended" : "in state '%s'".formatted(state));
        return;
      }
      int gpus = gpus();
      if (!ran()) {
        sink.skip("never ran");
      } else if (gpus == 0) {
        sink.skip("uses no GPU");
      } else {
        double duration = seconds("End") - seconds("Start");
        double submitted = seconds("Submit");
        if (duration < 0) {
          throw where.problem("End", "'%s' is before Start".formatted(text("End")));
        }
        if (duration == 0) {
          sink.skip("never ran");
          return;
        }
        sink.job(
            Workload.Job.timed(id, submitted, gpus, duration, outcome).queued(queue(), 0), where);
      }
    }

    private String text(String column) {
      Integer at = columns.get(column);
      return at == null ? "" : fields.get(at).strip();
    }

    private String queue() {
      return text("Account").isEmpty() ? text("Partition") : text("Account");
    }

    private boolean ran() {
      return isTime(text("Start")) && isTime(text("End"));
    }

    private static boolean isTime(String text) {
      return !text.isEmpty() && !text.equals("Unknown") && !text.equals("None");
    }

    private double seconds(String column) throws TraceException {
      return LogTime.isoSeconds(text(column), column, where);
    }

    private int gpus() throws TraceException {
      int allocated = gpus("AllocTRES");
      return allocated > 0 ? allocated : gpus("ReqTRES");
    }

    /** Their number is there of all types together, and in newer versions of each type besides. */
    private int gpus(String column) throws TraceException {
      String resources = text(column);
      Matcher all = ALL_GPUS.matcher(resources);
      if (all.find()) {
        return count(all.group(1), column);
      }
      int sum = 0;
      Matcher typed = GPUS.matcher(resources);
      while (typed.find()) {
        sum += count(typed.group(1), column);
      }
      return sum;
    }

    private int count(String text, String column) throws TraceException {
      try {
        int count = Integer.parseInt(text);
        if (count >= 0) {
          return count;
        }
      } catch (NumberFormatException e) {
        // Reported below, together with negative numbers.
      }
      throw where.problem(column, "'%s' is not a number of GPUs".formatted(text));
    }
  }
}
