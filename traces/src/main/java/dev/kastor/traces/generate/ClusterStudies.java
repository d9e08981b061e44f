package dev.kastor.traces.generate;

import dev.kastor.traces.generate.ClusterStudy.Size;
import dev.kastor.traces.generate.Durations.Quantiles.Group;
import java.util.Collections;
import java.util.List;

/** The studies whose marginals {@link WorkloadGenerator} knows. */
public final class ClusterStudies {
  private static final double DAY = 86_400;

  /**
   * Microsoft's Philly (Jeon et al., ATC 2019). Outcomes are those of the study's table 6, 66,696
   * passed, 12,996 killed and 16,568 unsuccessful jobs; the longer public trace has 60.4, 9.0 and
   * 30.5 % (InternLM/AcmeTrace, cluster_summary.csv). Sizes, durations and arrivals were measured
   * on the public trace in the digest of Pollux's artifact (82,247 jobs, September to December
   * 2017); the 23 jobs of 12, 24, 64 or 128 GPUs count as 16 or 32. Single bursts show in the
   * hours.
   */
  public static final ClusterStudy PHILLY =
      new ClusterStudy(
          "philly",
          "Jeon et al., ATC 2019, and the public Philly trace",
          List.of(
              new Size(1, 93.17),
              new Size(2, 2.21),
              new Size(4, 2.27),
              new Size(8, 2.00),
              new Size(16, 0.25),
              new Size(32, 0.10)),
          new Durations.Quantiles(
              List.of(0.0, 0.05, 0.25, 0.5, 0.75, 0.85, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0),
              List.of(
                  new Group(
                      1,
                      List.of(
                          1.0,
                          52.0,
                          122.0,
                          1_117.0,
                          2_716.0,
                          5_342.0,
                          8_512.0,
                          19_137.0,
                          68_259.0,
                          135_404.0,
                          266_986.0,
                          868_927.0,
                          3_256_045.0)),
                  new Group(
                      4,
                      List.of(
                          2.0,
                          11.0,
                          21.0,
                          367.0,
                          45_476.0,
                          99_995.0,
                          166_199.0,
                          233_725.0,
                          467_815.0,
                          748_678.0,
                          1_127_338.0,
                          2_416_865.0,
                          2_750_674.0)),
                  new Group(
                      8,
                      List.of(
                          1.0,
                          125.0,
                          1_871.0,
                          23_683.0,
                          173_288.0,
                          242_280.0,
                          352_409.0,
                          525_631.0,
                          807_057.0,
                          1_066_894.0,
                          2_010_727.0,
                          2_658_784.0,
                          4_628_226.0)),
                  new Group(
                      Integer.MAX_VALUE,
                      List.of(
                          1.0,
                          35.0,
                          566.0,
                          21_137.0,
                          104_218.0,
                          181_596.0,
                          252_560.0,
                          446_126.0,
                          622_377.0,
                          1_152_387.0,
                          1_369_876.0,
                          1_710_643.0,
                          1_710_643.0)))),
          List.of(
              1.27, 0.98, 1.12, 1.10, 0.70, 1.15, 1.67, 2.09, 1.11, 1.01, 1.02, 0.87, 0.75, 0.70,
              0.64, 0.65, 0.88, 0.67, 0.80, 0.73, 1.02, 0.92, 1.13, 1.01),
          List.of(0.85, 1.05, 1.13, 1.27, 1.43, 0.64, 0.63),
          0.172,
          0.135);

  /**
   * SenseTime's Helios (Hu et al., SC 2021). As the study's artifact sums up its 1,580,464 GPU
   * jobs: 6,652 s a job on average and 206 s in the median; 62.4 % completed, 22.1 % cancelled,
   * 15.5 % failed. The longest ran 50 days (InternLM/AcmeTrace, cluster_summary.csv). Durations are
   * a lognormal of that median, cut at 50 days, whose mean after the cut is that mean: our choice.
   * Sizes and hours are read off the curves of the artifact's figures job_cdf_gpunum.pdf and
   * cluster_diurnal.pdf, clusters added up by their jobs; sizes above 64 count as 128, which gives
   * 3.74 GPUs a job where the artifact has 3.716. We give it no weekly shape.
   */
  public static final ClusterStudy HELIOS =
      new ClusterStudy(
          "helios",
          "Hu et al., SC 2021",
          List.of(
              new Size(1, 72.19),
              new Size(2, 2.56),
              new Size(4, 5.72),
              new Size(8, 14.22),
              new Size(16, 3.03),
              new Size(32, 1.62),
              new Size(64, 0.39),
              new Size(128, 0.27)),
          new Durations.LogNormal(206, 2.671, 50 * DAY),
          List.of(
              0.90, 0.84, 0.68, 0.60, 0.56, 0.56, 0.55, 0.51, 0.56, 0.82, 1.12, 1.24, 1.20, 1.22,
              1.33, 1.43, 1.49, 1.33, 1.10, 1.20, 1.31, 1.22, 1.14, 1.09),
          Collections.nCopies(7, 1.0),
          0.155,
          0.221);

  private static final List<ClusterStudy> ALL = List.of(PHILLY, HELIOS);

  private ClusterStudies() {}

  public static List<String> names() {
    return ALL.stream().map(ClusterStudy::name).toList();
  }

  /**
   * The study of this name.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static ClusterStudy named(String name) {
    return ALL.stream()
        .filter(study -> study.name().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "there is no study '%s'. Use one of: %s".formatted(name, names())));
  }
}
