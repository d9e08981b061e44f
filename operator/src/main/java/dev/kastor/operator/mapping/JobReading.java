package dev.kastor.operator.mapping;

import dev.kastor.crds.trainingjob.TrainingJob;
import dev.kastor.crds.trainingjob.TrainingJobStatus.AllocationStatus;
import dev.kastor.operator.kube.Labels;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllocationHistory;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.scheduler.model.JobSpec;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What rounds read from one version of a job. Most jobs are the same from one round to the next, so
 * nothing is parsed again that has not changed.
 *
 * @param job the version
 * @param id its id
 * @param asked what its spec asks for, and what is wrong with that
 * @param given its allocation as stored, which may be newer than the job; null if it never had one
 * @param history its allocations up to that one
 */
public record JobReading(
    TrainingJob job,
    JobId id,
    Asked asked,
    @Nullable AllocationStatus given,
    AllocationHistory history) {
  /**
   * What a spec asks for.
   *
   * @param spec the scheduler's view; empty if it contradicts itself
   * @param problem how it contradicts itself
   * @param pinProblem why what the annotation asks cannot be done
   */
  public record Asked(
      Optional<JobSpec> spec, Optional<String> problem, Optional<String> pinProblem) {
    private static Asked of(TrainingJob job) {
      try {
        return new Asked(Optional.of(JobSpecs.of(job)), Optional.empty(), JobSpecs.pinProblem(job));
      } catch (IllegalArgumentException e) {
        return new Asked(
            Optional.empty(), Optional.of(String.valueOf(e.getMessage())), Optional.empty());
      }
    }
  }

  /** Reads a job that was not read before. */
  public static JobReading of(TrainingJob job, @Nullable AllocationStatus given) {
    return read(job, given, Asked.of(job));
  }

  /** Reads a later version, or the same again, of the same job. */
  @SuppressWarnings("ReferenceEquality") // The same version is one object; equal ones are read.
  JobReading next(TrainingJob later, @Nullable AllocationStatus newest) {
    if (later == job && newest == given) {
      return this;
    }
    return read(later, newest, asksTheSame(later) ? asked : Asked.of(later));
  }

  /** The spec of the job. */
  JobSpec spec() {
    return asked
        .spec()
        .orElseThrow(() -> new IllegalArgumentException(asked.problem().orElseThrow()));
  }

  /**
   * Fewest replicas with which the job may start.
   *
   * @throws IllegalArgumentException if its spec contradicts itself
   */
  public int least() {
    return spec().elasticity().min();
  }

  /** The allocation that the job has. */
  public Allocation allocation() {
    return history.allocation();
  }

  /** When that was given; absent if the job never had one. */
  public Optional<Instant> since() {
    return history.since();
  }

  /** When the job was submitted; the end of time for one that contradicts itself. */
  Instant submitted() {
    return asked.spec().map(JobSpec::submitted).orElse(Instant.MAX);
  }

  /** Whether a round can have given the job so many replicas, going by what it asks for now. */
  public boolean withinBounds() {
    return JobMapper.withinBounds(spec(), allocation());
  }

  private boolean asksTheSame(TrainingJob later) {
    Long generation = later.getMetadata().getGeneration();
    return generation != null
        && generation.equals(job.getMetadata().getGeneration())
        && Objects.equals(later.getMetadata().getAnnotations(), job.getMetadata().getAnnotations());
  }

  private static JobReading read(TrainingJob job, @Nullable AllocationStatus given, Asked asked) {
    return new JobReading(job, Labels.id(job), asked, given, StoredHistory.of(given));
  }
}
