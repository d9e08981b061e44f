package dev.kastor.cli.demo;

import dev.kastor.cli.manifest.ManifestFile;
import dev.kastor.local.Installation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Jobs of the demonstration, made from the examples.
 *
 * @param jobs in the order in which they come
 * @param arrivals when they do
 */
record DemoJobs(List<ManifestFile> jobs, Arrivals arrivals) {
  private static final List<String> EXAMPLES = List.of("glyph-mlp", "glyph-cnn", "byte-lm");

  /** Time from the first wave to the second, whose jobs are of families that are known by then. */
  private static final double WAVE_SECONDS = 70;

  /** Time between two jobs of a wave: a job is measured before the next but one comes. */
  private static final List<Double> GAP_SECONDS = List.of(8.0, 6.0);

  /** Jobs of 60 to 80 s at the pace of one slot: three of them, then five. */
  private static final List<List<Part>> WAVES =
      List.of(
          List.of(new Part("glyph-cnn", 454), new Part("byte-lm", 93), new Part("glyph-mlp", 540)),
          List.of(
              new Part("glyph-mlp", 540),
              new Part("glyph-cnn", 454),
              new Part("byte-lm", 93),
              new Part("glyph-cnn", 340),
              new Part("glyph-mlp", 460)));

  DemoJobs {
    jobs = List.copyOf(jobs);
  }

  private record Part(String example, int steps) {}

  /** Three jobs that share this machine's cores: the second comes once the first has spread. */
  static DemoJobs onCores(Installation installation, double work) {
    List<ManifestFile> jobs = new ArrayList<>();
    for (String example : EXAMPLES) {
      jobs.add(DemoJob.shortened(read(installation, example), work));
    }
    return new DemoJobs(
        jobs,
        new Arrivals.OnceSpread(
            Duration.ofSeconds(25), Duration.ofSeconds(10), Duration.ofSeconds(4)));
  }

  /** Eight jobs for paced slots, in two waves. A share of their work comes sooner by as much. */
  static DemoJobs paced(Installation installation, double work) {
    List<ManifestFile> jobs = new ArrayList<>();
    List<Duration> offsets = new ArrayList<>();
    for (int wave = 0; wave < WAVES.size(); wave++) {
      List<Part> parts = WAVES.get(wave);
      for (int i = 0; i < parts.size(); i++) {
        Part part = parts.get(i);
        ManifestFile job = read(installation, part.example());
        jobs.add(
            DemoJob.shortened(
                DemoJob.named(
                    job, "%s-%d".formatted(part.example(), jobs.size() + 1), part.steps()),
                work));
        double seconds = work * (WAVE_SECONDS * wave + GAP_SECONDS.get(wave) * i);
        offsets.add(Duration.ofMillis(Math.round(1000 * seconds)));
      }
    }
    return new DemoJobs(jobs, new Arrivals.At(offsets));
  }

  /** The same jobs with one replica each and a fixed batch, at given times. */
  DemoJobs fixed(List<Duration> offsets) {
    return new DemoJobs(jobs.stream().map(DemoJob::fixed).toList(), new Arrivals.At(offsets));
  }

  private static ManifestFile read(Installation installation, String example) {
    return ManifestFile.read(installation.root().resolve("examples").resolve(example + ".yaml"))
        .getFirst();
  }
}
