package dev.kastor.simulator.event;

import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.traces.Application;
import java.time.Duration;

/** Application of one job that ran on a cluster: what it was submitted with and its own pauses. */
public interface SpecifiedApplication extends Application {
  /** What was asked for. */
  JobSpec spec();

  /** Pause of a live change of this job. */
  Duration rescalePause();
}
