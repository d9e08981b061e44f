package dev.kastor.operator;

import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.zip.GZIPOutputStream;

/**
 * Bodies that are reports, nearly reports, or nothing of the kind.
 *
 * <p>A report is made at random within what the grammar of the protocol allows, then its tree, its
 * text or its bytes are damaged. The same random numbers make the same bodies.
 */
final class ReportMutator {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
  private static final int LARGE = 80_000;

  /** Values that software stumbles over, as they stand in JSON or nearly so. */
  private static final List<String> NASTY =
      List.of(
          "null",
          "true",
          "\"\"",
          "\"NaN\"",
          "NaN",
          "-Infinity",
          "1e999",
          "-1e999",
          "1e-400",
          "-0.0",
          "-1",
          "0",
          "1",
          "0.1",
          "2147483647",
          "2147483648",
          "-2147483648",
          "9223372036854775807",
          "9223372036854775808",
          "18446744073709551616",
          "4611686018427387904",
          "1.7976931348623157e308",
          "4.9e-324",
          "007",
          "+1",
          ".5",
          "1.",
          "0x10",
          "'x'",
          "\"\\u0000\"",
          "\"\\ud800\"",
          "\"\\uFFFF\"",
          "\"\uD83D\uDE80\"",
          "\"../../etc\"",
          "\"${jndi:ldap://x}\"",
          "\"%s%n%d\"",
          "\"\\r\\nX: y\"",
          "[]",
          "{}",
          "[null]",
          "[[[[[[[[[[[[]]]]]]]]]]]]",
          "{\"a\":{\"b\":{\"c\":{}}}}",
          "/* */",
          "\"",
          "{",
          "}",
          ",",
          "undefined",
          "\"" + "x".repeat(9000) + "\"",
          "9".repeat(70),
          "1e" + "9".repeat(20));

  private final String namespace;
  private final String job;
  private final String pod;

  ReportMutator(String namespace, String job, String pod) {
    this.namespace = namespace;
    this.job = job;
    this.pod = pod;
  }

  /** A body, damaged or not. */
  byte[] next(RandomGenerator random, long generation, long sequence) {
    ObjectNode report = report(random, generation, sequence);
    return switch (random.nextInt(20)) {
      case 0, 1 -> bytes(report);
      case 2, 3, 4, 5, 6, 7, 8, 9, 10 -> bytes(damaged(report, random));
      case 11, 12, 13, 14, 15 -> damaged(bytes(report), random);
      case 16 -> damaged(bytes(damaged(report, random)), random);
      case 17 -> doubled(new String(bytes(report), UTF_8), random).getBytes(UTF_8);
      case 18 -> encoded(bytes(report), random);
      default -> noise(random);
    };
  }

  private ObjectNode report(RandomGenerator random, long generation, long sequence) {
    ObjectNode report = NODES.objectNode();
    report.put("namespace", namespace).put("job", job).put("pod", pod);
    report.put("generation", generation).put("sequence", sequence);
    report.put("replicas", 1 + random.nextInt(8));
    report
        .putObject("batch")
        .put("atomicBatchSize", 1 + random.nextInt(256))
        .put("accumulationSteps", random.nextInt(4));
    ArrayNode profiles = report.putArray("profiles");
    for (int i = random.nextInt(4); i > 0; i--) {
      double seconds = Math.exp(random.nextGaussian() - 3);
      profiles
          .addObject()
          .put("nodes", 1)
          .put("replicas", 1 + random.nextInt(8))
          .put("atomicBatchSize", 1 + random.nextInt(256))
          .put("steps", 1 + random.nextInt(100))
          .put("stepSeconds", seconds)
          .put("syncSeconds", seconds * random.nextDouble());
    }
    if (random.nextBoolean()) {
      report
          .putObject("gradient")
          .put("squaredNorm", Math.exp(3 * random.nextGaussian()))
          .put("variance", Math.exp(3 * random.nextGaussian()))
          .put("initialBatch", 32);
    }
    progress(report.putObject("progress"), random);
    if (random.nextBoolean()) {
      report.put("trainingLoss", random.nextDouble()).put("learningRate", 0.1);
    }
    if (random.nextBoolean()) {
      report
          .putObject("checkpoint")
          .put("step", random.nextInt(1000))
          .put("bytes", random.nextInt())
          .put("savedAtEpochMillis", 1_800_000_000_000L + random.nextInt());
    }
    ArrayNode switches = report.putArray("switches");
    for (int i = random.nextInt(3); i > 0; i--) {
      switches
          .addObject()
          .put("generation", generation)
          .put("replicasBefore", random.nextInt(4))
          .put("replicasAfter", random.nextInt(4))
          .put("cause", List.of("START", "RESCALE", "FAILURE").get(random.nextInt(3)))
          .put("pauseSeconds", random.nextDouble());
    }
    if (random.nextBoolean()) {
      ObjectNode scalars = report.putObject("scalars");
      for (int i = random.nextInt(70); i > 0; i--) {
        scalars.put("s" + random.nextInt(200), random.nextGaussian());
      }
    }
    if (random.nextInt(4) == 0) {
      // COMPLETED would end the job that the run needs.
      ObjectNode outcome = report.putObject("outcome");
      outcome.put("kind", List.of("STOPPED", "LEFT", "FAILED").get(random.nextInt(3)));
      outcome.put("lostOrRepeatedExamples", 0).put("message", "m".repeat(random.nextInt(3000)));
      if (random.nextBoolean()) {
        outcome.put("outOfMemoryAt", random.nextInt(-1, 1000));
      }
    }
    return report;
  }

  private static void progress(ObjectNode progress, RandomGenerator random) {
    progress
        .put("step", random.nextInt(10_000))
        .put("scaleInvariantSteps", random.nextDouble() * 10_000)
        .put("totalScaleInvariantSteps", 10_000)
        .put("examples", random.nextInt())
        .put("epoch", random.nextInt(100));
  }

  private static ObjectNode damaged(ObjectNode report, RandomGenerator random) {
    for (int times = 1 + random.nextInt(3); times > 0; times--) {
      List<JsonNode> containers = new ArrayList<>();
      collect(report, containers);
      JsonNode chosen = containers.get(random.nextInt(containers.size()));
      JsonNode nasty = NODES.rawValueNode(new RawValue(NASTY.get(random.nextInt(NASTY.size()))));
      switch (chosen) {
        case ObjectNode object -> damage(object, nasty, random);
        case ArrayNode array -> {
          boolean many = random.nextInt(10) == 0 && nasty.toString().length() < 100;
          for (int i = many ? 150 : 1; i > 0; i--) {
            array.add(nasty);
          }
        }
        default -> throw new IllegalStateException("only containers were collected");
      }
    }
    return report;
  }

  private static void damage(ObjectNode object, JsonNode nasty, RandomGenerator random) {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    String name = names.isEmpty() ? "none" : names.get(random.nextInt(names.size()));
    switch (random.nextInt(6)) {
      case 0 -> object.remove(name);
      case 1 -> object.set(name + "x", nasty);
      case 2 -> object.set(" \"\\".repeat(1 + random.nextInt(3)), nasty);
      default -> object.set(name, nasty);
    }
  }

  private static void collect(JsonNode node, List<JsonNode> containers) {
    if (node.isContainerNode()) {
      containers.add(node);
      node.forEach(child -> collect(child, containers));
    }
  }

  private static byte[] damaged(byte[] whole, RandomGenerator random) {
    byte[] body = whole;
    for (int times = 1 + random.nextInt(8); times > 0 && body.length > 0; times--) {
      int at = random.nextInt(body.length);
      switch (random.nextInt(5)) {
        case 0 -> body = Arrays.copyOf(body, at);
        case 1 -> body[at] ^= (byte) (1 << random.nextInt(8));
        case 2 -> body[at] = (byte) random.nextInt(256);
        case 3 -> body = without(body, at, Math.min(body.length - at, 1 + random.nextInt(20)));
        default -> {
          int length = Math.min(body.length - at, random.nextInt(60));
          body =
              joined(Arrays.copyOf(body, at + length), Arrays.copyOfRange(body, at, body.length));
        }
      }
    }
    return body;
  }

  private static byte[] without(byte[] body, int from, int length) {
    return joined(Arrays.copyOf(body, from), Arrays.copyOfRange(body, from + length, body.length));
  }

  private static byte[] joined(byte[] first, byte[] second) {
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  /** A field twice, in the text: a tree cannot hold that. */
  private static String doubled(String text, RandomGenerator random) {
    String field = List.of("generation", "sequence", "pod", "x").get(random.nextInt(4));
    return "{\"%s\": %s,".formatted(field, NASTY.get(random.nextInt(NASTY.size())))
        + text.substring(1);
  }

  private static byte[] encoded(byte[] body, RandomGenerator random) {
    return switch (random.nextInt(4)) {
      case 0 -> new String(body, UTF_8).getBytes(UTF_16);
      case 1 -> joined(new byte[] {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF}, body);
      case 2 -> joined(body, new byte[LARGE]);
      default -> packed(body);
    };
  }

  private static byte[] packed(byte[] body) {
    var out = new ByteArrayOutputStream();
    try (var gzip = new GZIPOutputStream(out)) {
      gzip.write(body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  private static byte[] noise(RandomGenerator random) {
    byte[] body = new byte[random.nextInt(2000)];
    random.nextBytes(body);
    return body;
  }

  private static byte[] bytes(ObjectNode report) {
    try {
      return JSON.writeValueAsBytes(report);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A state for a poll as a query, damaged or not. */
  static String query(RandomGenerator random, String pod, long generation) {
    List<String> parts =
        new ArrayList<>(
            List.of(
                "pod=" + pod,
                "address=127.0.0.1:" + random.nextInt(65_536),
                "generation=" + generation,
                "phase=" + List.of("READY", "TRAINING", "STARTING").get(random.nextInt(3)),
                "step=" + random.nextInt(1000),
                "wait=0"));
    for (int times = random.nextInt(3); times > 0; times--) {
      int at = random.nextInt(parts.size());
      String name = parts.get(at).split("=", 2)[0];
      String nasty = NASTY.get(random.nextInt(NASTY.size()));
      String value = nasty.length() > 200 ? "9".repeat(200) : nasty;
      switch (random.nextInt(4)) {
        case 0 -> parts.remove(at);
        case 1 -> parts.add(parts.get(at));
        default ->
            parts.set(
                at, name + "=" + java.net.URLEncoder.encode(value, UTF_8).replace("+", "%20"));
      }
      if (parts.isEmpty()) {
        parts.add("");
      }
    }
    // Answered at once, whatever became of the damage.
    parts.removeIf(part -> part.startsWith("wait="));
    return String.join("&", parts);
  }
}
