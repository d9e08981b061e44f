package dev.kastor.paper;

import dev.kastor.bench.Machine;
import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/**
 * Result of a reproduction.
 *
 * @param findings one for each claim that has a threshold
 * @param seconds that it took
 * @param date when it began
 * @param trial how it was made
 * @param machine on which it was made
 */
public record PaperReport(
    Paper paper,
    List<Finding> findings,
    double seconds,
    Instant date,
    Trial trial,
    Machine machine) {
  public PaperReport {
    findings = List.copyOf(findings);
  }

  /**
   * Measures the claims of a paper.
   *
   * @throws PaperException if it is planned only, or something is missing
   */
  public static PaperReport of(Paper paper, Trial trial, InstantSource clock)
      throws PaperException, InterruptedException, IOException {
    Reproduction reproduction =
        paper.reproduction().orElseThrow(() -> new PaperException(planned(paper)));
    Machine machine = Machine.here();
    Instant begun = clock.instant();
    List<Measured> figures = reproduction.measure(trial);
    List<Claim> claims = paper.measured();
    if (figures.size() != claims.size()) {
      throw new IllegalStateException(
          "%s has %d claims to measure and gave %d figures"
              .formatted(paper.name(), claims.size(), figures.size()));
    }
    List<Finding> findings = new ArrayList<>();
    for (int i = 0; i < claims.size(); i++) {
      findings.add(new Finding(claims.get(i), figures.get(i)));
    }
    double seconds = begun.until(clock.instant(), ChronoUnit.MILLIS) / 1e3;
    return new PaperReport(
        paper, findings, seconds, begun.truncatedTo(ChronoUnit.SECONDS), trial, machine);
  }

  /** Why a paper that is planned cannot be run. */
  public static String planned(Paper paper) {
    return "paper %s is planned and cannot be run yet: %s"
        .formatted(paper.name(), paper.description());
  }

  /** The verdict on the paper. */
  public Verdict verdict() {
    return Verdict.of(findings.stream().map(Finding::verdict).toList());
  }
}
