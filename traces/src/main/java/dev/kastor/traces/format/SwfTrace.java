package dev.kastor.traces.format;

import dev.kastor.traces.TraceException;
import dev.kastor.traces.TraceInput;
import dev.kastor.traces.Workload;
import dev.kastor.traces.Workload.Outcome;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The Standard Workload Format, version 2.2, of the Parallel Workloads Archive: 18 numbers a line,
 * of which -1 means not known; comments begin with a semicolon.
 *
 * <p>A processor stands for a GPU. Lines of partial executions (status 2 to 4) are skipped, since
 * the archive gives each such job a line for the whole of it too.
 */
final class SwfTrace implements TraceFormat {
  private static final int FIELDS = 18;
  private static final Pattern BLANKS = Pattern.compile("\\s+");

  @Override
  public String name() {
    return "swf";
  }

  @Override
  public String description() {
    return "Standard Workload Format 2.2 (Parallel Workloads Archive)";
  }

  @Override
  public boolean recognises(TraceHead head) {
    return head.firstLine().startsWith(";")
        || BLANKS.splitAsStream(head.firstLine()).filter(f -> f.matches("-?[0-9.]+")).count()
            == FIELDS;
  }

  @Override
  public boolean isLog() {
    return true;
  }

  @Override
  public void read(Path file, Sink sink) throws TraceException {
    try (BufferedReader text = TraceInput.open(file)) {
      int number = 0;
      for (String line = text.readLine(); line != null; line = text.readLine()) {
        number++;
        String data = line.strip();
        if (!data.isEmpty() && !data.startsWith(";")) {
          read(List.of(BLANKS.split(data)), new FileLine(file, number), sink);
        }
      }
    } catch (IOException | UncheckedIOException e) {
      throw TraceException.unreadable(file, e);
    }
  }

  private static void read(List<String> fields, FileLine where, Sink sink) throws TraceException {
    if (fields.size() != FIELDS) {
      throw where.problem("", "it has %d fields, not %d".formatted(fields.size(), FIELDS));
    }
    double submitted = number(fields, 2, "submit time", where);
    double duration = number(fields, 4, "run time", where);
    double allocated = number(fields, 5, "allocated processors", where);
    double processors =
        allocated > 0 ? allocated : number(fields, 8, "requested processors", where);
    int status = (int) number(fields, 11, "status", where);
    if (submitted < 0) {
      throw where.problem("submit time", "'%s' must not be negative".formatted(fields.get(1)));
    }
    if (status >= 2 && status <= 4) {
      sink.skip("part of an execution");
    } else if (!(duration > 0) || processors < 1) {
      sink.skip("never ran");
    } else {
      Outcome outcome =
          switch (status) {
            case 0 -> Outcome.FAILED;
            case 5 -> Outcome.KILLED;
            default -> Outcome.COMPLETED;
          };
      sink.job(
          Workload.Job.timed(
              "job-" + fields.getFirst(), submitted, (int) processors, duration, outcome),
          where);
    }
  }

  private static double number(List<String> fields, int field, String what, FileLine where)
      throws TraceException {
    String text = fields.get(field - 1);
    try {
      double value = Double.parseDouble(text);
      if (Double.isFinite(value)) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Reported below, together with numbers that are not finite.
    }
    throw where.problem(
        "field %d (%s)".formatted(field, what), "'%s' is not a number".formatted(text));
  }
}
