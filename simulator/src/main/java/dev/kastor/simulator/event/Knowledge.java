package dev.kastor.simulator.event;

import dev.kastor.protocol.Progress;
import dev.kastor.protocol.TelemetryReport;
import dev.kastor.scheduler.estimate.Learner;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.Measured;
import java.time.Instant;
import java.util.Optional;

/** Knowledge that a scheduler has of one job from what the job reports; owned by its reporter. */
interface Knowledge {
  /** Takes in a report. */
  void observe(TelemetryReport report, Instant at);

  /** The job's goodput; empty where nothing tells of it yet. */
  Optional<GoodputModel> model(Instant now);

  /** The goodput as of the last {@link #model}. */
  Optional<GoodputModel> latestModel();

  /** Measurements as far as a policy may use them. */
  Measured measured(Instant now);

  /** The job's work is done. */
  void finished(Progress at, Instant now);

  /** Knowledge that is fitted to the reports, as an operator does it. */
  static Knowledge of(Learner learner) {
    return new Knowledge() {
      @Override
      public void observe(TelemetryReport report, Instant at) {
        learner.observe(report, at);
      }

      @Override
      public Optional<GoodputModel> model(Instant now) {
        return learner.model(now);
      }

      @Override
      public Optional<GoodputModel> latestModel() {
        return learner.latestModel();
      }

      @Override
      public Measured measured(Instant now) {
        return learner.measured(now);
      }

      @Override
      public void finished(Progress at, Instant now) {
        learner.finished(at, now);
      }
    };
  }
}
