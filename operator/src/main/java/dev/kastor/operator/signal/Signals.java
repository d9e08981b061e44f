package dev.kastor.operator.signal;

import dev.kastor.scheduler.model.JobId;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** Carries wake-ups between parts that must not know each other; each does its work elsewhere. */
@Singleton
public final class Signals {
  private final List<Consumer<JobId>> jobListeners = new CopyOnWriteArrayList<>();
  private final List<Consumer<JobId>> arrivalListeners = new CopyOnWriteArrayList<>();
  private final List<Runnable> roundListeners = new CopyOnWriteArrayList<>();

  /** Calls the listener for every job that needs to be looked at. */
  public void onJob(Consumer<JobId> listener) {
    jobListeners.add(listener);
  }

  /** Calls the listener when the scheduling loop should run soon. */
  public void onRound(Runnable listener) {
    roundListeners.add(listener);
  }

  /** Calls the listener for every job that may be decided on for the first time. */
  public void onArrival(Consumer<JobId> listener) {
    arrivalListeners.add(listener);
  }

  /** This job should be reconciled. */
  public void job(JobId job) {
    jobListeners.forEach(listener -> listener.accept(job));
  }

  /** This job came, or needs to wait for nothing but GPUs any more. */
  public void arrived(JobId job) {
    arrivalListeners.forEach(listener -> listener.accept(job));
  }

  /** A scheduling round should come soon. */
  public void round() {
    roundListeners.forEach(Runnable::run);
  }
}
