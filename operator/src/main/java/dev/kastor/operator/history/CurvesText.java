package dev.kastor.operator.history;

import dev.kastor.protocol.BatchPlan;
import java.math.BigDecimal;
import java.math.MathContext;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;
import java.util.StringJoiner;
import java.util.TreeMap;

/**
 * Text form of {@link StoredCurves}: an operator holds the status of all jobs in memory, where one
 * text takes a tenth of lists of numbers.
 *
 * <p>The first line has the version and the time of the first point, Unix time in seconds. A line
 * {@code s} is a sample: seconds since then, step, loss, throughput, goodput, noise scale, learning
 * rate, atomic batch, accumulation steps, replicas. A line {@code m} is a scalar: its name, then
 * seconds, step and value of each point. Numbers have five digits, {@code -} is unknown.
 */
final class CurvesText {
  private static final String VERSION = "1";
  private static final String UNKNOWN = "-";
  private static final MathContext DIGITS = new MathContext(5);
  private static final int SAMPLE_WORDS = 11;
  private static final long NEVER = Long.MAX_VALUE;

  /** Of a text that is read: three times what is ever written. */
  private static final int MOST_CHARACTERS = 32_768;

  private CurvesText() {}

  static String of(StoredCurves curves) {
    long begin =
        Math.min(
            curves.samples().stream().mapToLong(s -> s.at().getEpochSecond()).min().orElse(NEVER),
            curves.scalars().values().stream()
                .flatMap(List::stream)
                .mapToLong(point -> seconds(point.epochMillis()))
                .min()
                .orElse(NEVER));
    if (begin == NEVER) {
      return "";
    }
    StringJoiner lines = new StringJoiner("\n");
    lines.add(VERSION + " " + begin);
    for (Sample sample : curves.samples()) {
      lines.add(
          String.join(
              " ",
              "s",
              Long.toString(sample.at().getEpochSecond() - begin),
              Long.toString(sample.step()),
              number(sample.loss()),
              number(sample.throughput()),
              number(sample.goodput()),
              number(sample.noiseScale()),
              number(sample.learningRate()),
              Integer.toString(sample.batch().atomicBatchSize()),
              Integer.toString(sample.batch().accumulationSteps()),
              Integer.toString(sample.replicas())));
    }
    curves
        .scalars()
        .forEach((name, points) -> {
          StringJoiner line = new StringJoiner(" ", "m " + name + " ", "");
          for (ScalarPoint point : points) {
            line.add(
                "%d %d %s"
                    .formatted(
                        seconds(point.epochMillis()) - begin, point.step(), number(point.value())));
          }
          lines.add(line.toString());
        });
    return lines.toString();
  }

  /** What a text says; nothing if it is none that {@link #of} writes. */
  static StoredCurves read(String text) {
    if (text.isEmpty() || text.length() > MOST_CHARACTERS) {
      return StoredCurves.NONE;
    }
    try {
      return read(text.lines().map(line -> List.of(line.split(" ", -1))).toList());
    } catch (IllegalArgumentException
        | IndexOutOfBoundsException
        | ArithmeticException
        | DateTimeException e) {
      // Of another version, or written by another hand: the curves begin anew.
      return StoredCurves.NONE;
    }
  }

  private static StoredCurves read(List<List<String>> lines) {
    List<String> first = lines.getFirst();
    if (!first.getFirst().equals(VERSION)) {
      return StoredCurves.NONE;
    }
    Instant begin = Instant.ofEpochSecond(Long.parseLong(first.get(1)));
    List<Sample> samples = new ArrayList<>();
    SequencedMap<String, List<ScalarPoint>> scalars = new TreeMap<>();
    for (List<String> words : lines.subList(1, lines.size())) {
      switch (words.getFirst()) {
        case "s" -> samples.add(sample(begin, words));
        case "m" -> scalars.put(words.get(1), points(begin, words.subList(2, words.size())));
        default -> {
          // A newer operator's.
        }
      }
    }
    return new StoredCurves(samples, scalars);
  }

  private static Sample sample(Instant begin, List<String> words) {
    if (words.size() != SAMPLE_WORDS) {
      throw new IllegalArgumentException("a sample has " + words.size() + " words");
    }
    double throughput = number(words.get(4));
    double goodput = number(words.get(5));
    BatchPlan batch = new BatchPlan(Integer.parseInt(words.get(8)), Integer.parseInt(words.get(9)));
    int replicas = Integer.parseInt(words.get(10));
    int global = batch.globalBatchSize(replicas);
    return new Sample(
        // By way of milliseconds, which refuse a time that a story could not tell.
        Instant.ofEpochMilli(begin.plusSeconds(Long.parseLong(words.get(1))).toEpochMilli()),
        Long.parseLong(words.get(2)),
        number(words.get(3)),
        throughput,
        goodput,
        throughput > 0 ? Math.min(1, goodput / throughput) : Double.NaN,
        global > 0 ? throughput / global : Double.NaN,
        number(words.get(6)),
        number(words.get(7)),
        batch,
        replicas);
  }

  private static List<ScalarPoint> points(Instant begin, List<String> words) {
    List<ScalarPoint> points = new ArrayList<>();
    for (int i = 0; i < words.size(); i += 3) {
      points.add(
          new ScalarPoint(
              begin.plusSeconds(Long.parseLong(words.get(i))).toEpochMilli(),
              Long.parseLong(words.get(i + 1)),
              number(words.get(i + 2))));
    }
    return points;
  }

  private static String number(double value) {
    return Double.isFinite(value)
        ? new BigDecimal(value).round(DIGITS).stripTrailingZeros().toString()
        : UNKNOWN;
  }

  private static double number(String word) {
    return word.equals(UNKNOWN) ? Double.NaN : Double.parseDouble(word);
  }

  private static long seconds(long millis) {
    return Instant.ofEpochMilli(millis).getEpochSecond();
  }
}
