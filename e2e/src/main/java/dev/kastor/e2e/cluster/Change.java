package dev.kastor.e2e.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A change of members or batch as the agents tell it in their logs.
 *
 * @param at when the new ring stood, just before its first step
 * @param ready when the last replica of the job had started that did so before; the beginning of
 *     time if none did
 * @param before replicas before; 0 for a start
 * @param after replicas after
 * @param cause START, RESCALE or FAILURE
 * @param pause for how long nobody trained
 */
public record Change(
    Instant at, Instant ready, int before, int after, String cause, Duration pause) {
  private static final Path LOGS = Path.of(System.getenv().getOrDefault("KASTOR_E2E_LOGS", "."));
  private static final double NANOS_PER_MILLI = 1e6;
  private static final Pattern READY = Pattern.compile("^(\\S+) \\S+ F .* is ready with .*");
  private static final Pattern LINE =
      Pattern.compile(
          "^(\\S+) \\S+ F .* trains with (\\d+) replicas? \\(before: (\\d+)\\); (\\w+), pause of ([0-9.]+) ms; .*");

  /** All changes of a job so far, the oldest first; also of pods that are gone. */
  public static List<Change> of(String namespace, String job) throws IOException {
    List<String> lines = lines(namespace, job);
    List<Instant> starts =
        lines.stream()
            .map(READY::matcher)
            .filter(Matcher::matches)
            .map(line -> Instant.parse(line.group(1)))
            .toList();
    return lines.stream()
        .map(LINE::matcher)
        .filter(Matcher::matches)
        .map(line -> of(line, starts))
        .sorted(Comparator.comparing(Change::at))
        .toList();
  }

  private static List<String> lines(String namespace, String job) throws IOException {
    List<String> lines = new ArrayList<>();
    Pattern pod = Pattern.compile(Pattern.quote(namespace + "_" + job) + "-\\d+_.*");
    try (Stream<Path> files = Files.walk(LOGS.resolve("pods"))) {
      for (Path file :
          files.filter(Files::isRegularFile).filter(path -> isOf(pod, path)).toList()) {
        lines.addAll(Files.readAllLines(file));
      }
    }
    return lines;
  }

  private static boolean isOf(Pattern pod, Path file) {
    for (Path part : LOGS.relativize(file)) {
      if (pod.matcher(part.toString()).matches()) {
        return true;
      }
    }
    return false;
  }

  private static Change of(Matcher line, List<Instant> starts) {
    Instant at = Instant.parse(line.group(1));
    return new Change(
        at,
        starts.stream().filter(at::isAfter).max(Comparator.naturalOrder()).orElse(Instant.MIN),
        Integer.parseInt(line.group(3)),
        Integer.parseInt(line.group(2)),
        line.group(4).toUpperCase(Locale.ROOT),
        Duration.ofNanos((long) (Double.parseDouble(line.group(5)) * NANOS_PER_MILLI)));
  }
}
