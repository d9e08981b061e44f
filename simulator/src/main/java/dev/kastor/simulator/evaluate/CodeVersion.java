package dev.kastor.simulator.evaluate;

import dev.kastor.scheduler.plan.Policy;
import dev.kastor.simulator.run.Simulate;
import dev.kastor.simulator.sweep.Fingerprint;
import dev.kastor.traces.Application;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/**
 * Which code makes replays: the content of the compiled classes, so that building the same source
 * again is the same version.
 *
 * <p>Kastor's own policy counts only for its own replays: no other policy uses it, and theirs take
 * most of the time. So does each of the two simulators: neither uses the other; and lower bounds
 * have a version of their own. What only writes results down does not count. Owned by one thread.
 */
final class CodeVersion {
  private static final String OWN_POLICY = "dev/kastor/scheduler/policy/kastor/";
  private static final String EVENTS = "dev/kastor/simulator/event/";
  private static final String TICKS = "dev/kastor/simulator/tick/";
  private static final String BOUNDS = "dev/kastor/simulator/bound/";
  private static final List<String> WITHOUT_INFLUENCE =
      List.of(
          "META-INF/",
          "dev/kastor/simulator/bench/",
          "dev/kastor/simulator/compare/",
          "dev/kastor/simulator/evaluate/",
          "dev/kastor/simulator/report/",
          "dev/kastor/simulator/sweep/",
          "dev/kastor/simulator/whatif/");

  private final SortedMap<String, Long> checksums;
  private final Map<List<Boolean>, String> known = new HashMap<>();

  private CodeVersion(SortedMap<String, Long> checksums) {
    this.checksums = checksums;
  }

  /** Of this process. */
  static CodeVersion read() throws IOException {
    SortedMap<String, Long> checksums = new TreeMap<>();
    for (Class<?> one : List.of(Policy.class, Application.class, Simulate.class)) {
      add(place(one), checksums);
    }
    checksums.keySet().removeIf(name -> WITHOUT_INFLUENCE.stream().anyMatch(name::startsWith));
    for (String part : List.of(OWN_POLICY, EVENTS, TICKS, BOUNDS)) {
      if (checksums.keySet().stream().noneMatch(name -> name.startsWith(part))) {
        throw new IllegalStateException("the code of %s cannot be found".formatted(part));
      }
    }
    return new CodeVersion(checksums);
  }

  /** Of all that takes part in a replay. */
  String of(boolean ownPolicy, boolean events) {
    return known.computeIfAbsent(
        List.of(ownPolicy, events),
        key -> {
          SortedMap<String, Long> taking = new TreeMap<>(checksums);
          taking
              .keySet()
              .removeIf(name ->
                  name.startsWith(events ? TICKS : EVENTS)
                      || name.startsWith(BOUNDS)
                      || (name.startsWith(OWN_POLICY) && !ownPolicy));
          return Fingerprint.of(taking.toString());
        });
  }

  /** Of all that takes part in a lower bound: jobs are read as mode events reads them. */
  String ofBounds() {
    SortedMap<String, Long> taking = new TreeMap<>(checksums);
    taking.keySet().removeIf(name -> name.startsWith(TICKS) || name.startsWith(OWN_POLICY));
    return Fingerprint.of(taking.toString());
  }

  private static Path place(Class<?> one) {
    CodeSource source = one.getProtectionDomain().getCodeSource();
    try {
      return Path.of(source.getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException("%s is no place of a class".formatted(source), e);
    }
  }

  private static void add(Path place, SortedMap<String, Long> checksums) throws IOException {
    if (Files.isDirectory(place)) {
      try (Stream<Path> files = Files.walk(place)) {
        files
            .filter(Files::isRegularFile)
            .forEach(file ->
                checksums.put(
                    place.relativize(file).toString().replace('\\', '/'), checksum(file)));
      }
      return;
    }
    try (JarFile jar = new JarFile(place.toFile())) {
      jar.stream()
          .filter(entry -> !entry.isDirectory())
          .forEach(entry -> checksums.put(entry.getName(), entry.getCrc()));
    }
  }

  /** The checksum that an archive has of its entries. */
  private static long checksum(Path file) {
    CRC32 crc = new CRC32();
    try (InputStream in = Files.newInputStream(file)) {
      crc.update(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return crc.getValue();
  }
}
