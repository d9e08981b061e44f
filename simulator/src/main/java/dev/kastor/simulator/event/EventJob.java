package dev.kastor.simulator.event;

import dev.kastor.protocol.BatchPlan;
import dev.kastor.protocol.GradientStats;
import dev.kastor.protocol.Progress;
import dev.kastor.protocol.Switch;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.AllocationHistory;
import dev.kastor.scheduler.model.AssumedPauses;
import dev.kastor.scheduler.model.Elasticity;
import dev.kastor.scheduler.model.Foresight;
import dev.kastor.scheduler.model.JobFacts;
import dev.kastor.scheduler.model.JobSpec;
import dev.kastor.scheduler.model.JobState;
import dev.kastor.simulator.replay.Replay;
import dev.kastor.traces.Application;
import dev.kastor.traces.StepTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A job that trains from event to event.
 *
 * <p>Between two changes its speed is constant, so nothing is done for it until something of its
 * own changes; where it is at any instant follows from where it was at the last. Owned by its
 * simulation.
 */
final class EventJob implements Foresight {
  /** How long a live job may take to get to an allocation before that can change again. */
  private static final Duration TRANSITION = Duration.ofSeconds(45);

  private final int index;
  private final JobSpec spec;
  private final String name;
  private final double submitSeconds;
  private final Courses courses;
  private final VirtualClock clock;
  private final EventSettings settings;
  private final Reporter reporter;
  private final AssumedPauses assumed;

  private AllocationHistory history = AllocationHistory.NONE;
  private Allocation allocation = Allocation.NONE;

  /** The replicas that train; those that the allocation has besides still start. */
  private Allocation training = Allocation.NONE;

  private int moves;
  private double joinsAt = Double.POSITIVE_INFINITY;
  private String gpuType = "";
  private double trainsFrom;
  private double rate = 1;
  private double pace = 1;
  private BatchPlan batch;
  private StepTime time = StepTime.UNKNOWN;
  private Course course;

  private double settledAt;
  private double stepsOnCourse;
  private double steps;
  private double examples;
  private double checkpointProgress;
  private double checkpointSeconds = Double.NaN;
  private double sinceCheckpoint;

  private final @Nullable LiveStart live;
  private long version;
  private @Nullable JobState lastState;
  private long stateVersion;
  private double stateUntil;
  private double startSeconds = Double.NaN;
  private double finishSeconds = Double.NaN;

  EventJob(
      int index,
      JobSpec spec,
      String name,
      double submitSeconds,
      Courses courses,
      VirtualClock clock,
      EventSettings settings,
      Reporter reporter) {
    this(index, spec, name, submitSeconds, courses, clock, settings, reporter, null);
  }

  /** A job of a live cluster, which goes on from what it is there with {@link #resume}. */
  EventJob(
      int index,
      LiveStart live,
      Courses courses,
      VirtualClock clock,
      EventSettings settings,
      Reporter reporter) {
    this(
        index,
        live.job().state().spec(),
        live.job().id().toString(),
        clock.now(),
        courses,
        clock,
        settings,
        reporter,
        live);
  }

  private EventJob(
      int index,
      JobSpec spec,
      String name,
      double submitSeconds,
      Courses courses,
      VirtualClock clock,
      EventSettings settings,
      Reporter reporter,
      @Nullable LiveStart live) {
    this.live = live;
    this.index = index;
    this.spec = spec;
    this.name = name;
    this.submitSeconds = submitSeconds;
    this.courses = courses;
    this.clock = clock;
    this.settings = settings;
    this.reporter = reporter;
    assumed =
        new AssumedPauses(
            settings.liveRescale().pause(),
            VirtualClock.duration(courses.application().believedRestartSeconds()),
            Optional.of(settings.liveRescale().start()));
    batch = new BatchPlan(1, 0);
    course = courses.at(spec.batchLimits().targetGlobalBatch());
  }

  int index() {
    return index;
  }

  JobSpec spec() {
    return spec;
  }

  Application application() {
    return courses.application();
  }

  double submitSeconds() {
    return submitSeconds;
  }

  Allocation allocation() {
    return allocation;
  }

  /** Its replicas that train; those that were added to them may still start. */
  Allocation training() {
    return training;
  }

  /** When replicas that still start will train with the others; infinite where none start. */
  double joinsAt() {
    return joinsAt;
  }

  boolean finished() {
    return !Double.isNaN(finishSeconds);
  }

  /** Changes whenever its planned events become void. */
  long version() {
    return version;
  }

  BatchPlan batch() {
    return batch;
  }

  /** Optimizer steps that it took up to its last change. */
  double steps() {
    return steps;
  }

  /** The true noise of its gradient now. */
  GradientStats gradient() {
    return application().gradient(course.globalBatch(), course.finishedEpochs(stepsNow()));
  }

  /** Statistical efficiency of its present batch. */
  double efficiency() {
    return gradient().efficiency(course.globalBatch());
  }

  /** When its work is done if nothing changes; infinite while it does not run. */
  double expectedFinish() {
    return allocation.isEmpty()
        ? Double.POSITIVE_INFINITY
        : Math.max(settledAt, trainsFrom) + (course.totalSteps() - stepsOnCourse) / stepRate();
  }

  /** When its work was done; not a number before. */
  double finishSeconds() {
    return finishSeconds;
  }

  /** Whether it sends reports. */
  boolean reports() {
    return reporter.heard();
  }

  /** When it reports next after now: as its training begins, then at whole report intervals. */
  double nextReport() {
    double interval = reporter.begun() ? settings.reportSeconds(clock) : 0;
    return Math.max(clock.now(), trainsFrom) + interval;
  }

  /**
   * What the scheduler knows of it. Where nobody hears reports, that is up to a report interval
   * old, unless something of the job has changed since.
   */
  JobState state() {
    JobState known = lastState;
    if (known != null && !reporter.heard() && stateVersion == version && clock.now() < stateUntil) {
      return known;
    }
    double now = clock.now();
    JobFacts facts =
        new JobFacts(
            spec,
            history,
            joinsAt == Double.POSITIVE_INFINITY
                && (reporter.heard() ? reporter.trains() : now >= trainsFrom),
            reporter.measured(this, now),
            pinned(now),
            // What a replay takes for the truth of a live job, nobody knows.
            live == null ? Optional.of(this) : Optional.empty());
    JobState state = facts.state(assumed, VirtualClock.instant(now));
    lastState = state;
    stateVersion = version;
    stateUntil = now + settings.reportSeconds(clock);
    if (state.restarting()) {
      stateUntil = Math.min(stateUntil, Math.min(joinsAt, trainsFrom));
    }
    return state;
  }

  /** On a cluster a job keeps its allocation while it moves to it, for some time at most. */
  private boolean pinned(double now) {
    if (live == null || allocation.isEmpty()) {
      return false;
    }
    boolean moves = now < trainsFrom || joinsAt < Double.POSITIVE_INFINITY;
    boolean recent =
        history
            .since()
            .filter(since -> VirtualClock.instant(now).isBefore(since.plus(TRANSITION)))
            .isPresent();
    return live.job().stays() || (moves && recent);
  }

  Progress progress() {
    double trained = stepsNow() - stepsOnCourse;
    return new Progress(
        (long) (steps + trained),
        course.progressAt(stepsNow()),
        course.totalProgress(),
        (long) (examples + trained * course.globalBatch()),
        course.finishedEpochs(stepsNow()));
  }

  Replay.Completed completed() {
    return new Replay.Completed(
        name,
        application().name(),
        submitSeconds,
        startSeconds,
        finishSeconds,
        history.restarts(),
        moves,
        history.servedSeconds(),
        0);
  }

  /** When it last saved its state; empty before the first time. */
  Optional<Instant> saved() {
    return Double.isNaN(checkpointSeconds)
        ? Optional.empty()
        : Optional.of(VirtualClock.instant(checkpointSeconds));
  }

  /**
   * Goes on as the live job that it is.
   *
   * @param type GPU type of the nodes that it holds
   * @param nodesPace speed of the slowest of them, relative to what such nodes have
   */
  void resume(LiveStart from, String type, double nodesPace) {
    JobState state = from.job().state();
    double now = clock.now();
    settledAt = now;
    Progress done = state.progress().orElse(null);
    if (done != null) {
      steps = done.step();
      examples = done.examples();
      stepsOnCourse = course.stepsAt(Math.min(done.scaleInvariantSteps(), course.totalProgress()));
    }
    history = from.history(VirtualClock.instant(now));
    allocation = state.allocation();
    if (allocation.isEmpty()) {
      return;
    }
    training = allocation;
    gpuType = type;
    pace = nodesPace;
    startSeconds = now - VirtualClock.seconds(state.sinceChange());
    trainsFrom = state.restarting() ? now + VirtualClock.seconds(from.pauseLeft()) : now;
    reporter.resumed(steps, !state.restarting());
    train(reporter.batch(spec, application(), training, key(), now));
  }

  /**
   * Takes another allocation; what it has trained is kept.
   *
   * @param type GPU type of its nodes
   * @param nodesPace speed of the slowest of them, relative to what such nodes have
   */
  void reallocate(Allocation to, String type, double nodesPace) {
    settle();
    if (!allocation.isEmpty()) {
      measure();
    }
    boolean live =
        type.equals(gpuType)
            && !training.common(to).isEmpty()
            && !(spec.elasticity() instanceof Elasticity.Restarting);
    Allocation kept = live ? training.common(to) : Allocation.NONE;
    int before = live ? training.replicas() : 0;
    if (!allocation.isEmpty()) {
      saveProgress();
      moves += allocation.replicas() == to.replicas() ? 1 : 0;
    }
    become(to);
    gpuType = type;
    version++;
    if (to.isEmpty()) {
      return;
    }
    double now = clock.now();
    if (Double.isNaN(startSeconds)) {
      startSeconds = now;
    }
    rate = 1;
    pace = nodesPace;
    double starting = VirtualClock.seconds(settings.liveRescale().start());
    if (!live) {
      trainsFrom = now + application().restartSeconds();
      trainWith(to, 0, Switch.Cause.START);
    } else if (kept.equals(to) || starting == 0) {
      rescale(to, before);
    } else if (!spec.elasticity().allows(kept.replicas())) {
      // Those that stay cannot train without those that start.
      trainsFrom = Math.max(trainsFrom, now + starting);
      rescale(to, before);
    } else {
      joinsAt = now + starting;
      if (!kept.equals(training)) {
        rescale(kept, before);
      }
    }
  }

  /** The replicas that were added have started and train with the others from now on. */
  void join() {
    settle();
    measure();
    joinsAt = Double.POSITIVE_INFINITY;
    saveProgress();
    rescale(allocation, training.replicas());
    version++;
  }

  /** A rescale within a pause does not cut the pause short. */
  private void rescale(Allocation to, int before) {
    trainsFrom =
        Math.max(trainsFrom, clock.now() + VirtualClock.seconds(settings.liveRescale().pause()));
    trainWith(to, before, Switch.Cause.RESCALE);
  }

  private void trainWith(Allocation to, int before, Switch.Cause cause) {
    training = to;
    double now = clock.now();
    reporter.moved(steps, before, to, cause, trainsFrom - now);
    train(reporter.batch(spec, application(), to, key(), now));
  }

  /** Loses its nodes and what it has trained since its last checkpoint. */
  void fail() {
    settle();
    stepsOnCourse = course.stepsAt(checkpointProgress);
    sinceCheckpoint = 0;
    become(Allocation.NONE);
    version++;
  }

  private void become(Allocation to) {
    allocation = to;
    joinsAt = Double.POSITIVE_INFINITY;
    if (to.isEmpty()) {
      training = to;
    }
    history = history.next(to, VirtualClock.instant(clock.now()));
  }

  /** Goes on at another share of its speed. */
  boolean setRate(double share) {
    if (share == rate) {
      return false;
    }
    settle();
    rate = share;
    version++;
    return true;
  }

  /**
   * Sends what it measured.
   *
   * @return whether a report is on its way
   */
  boolean report() {
    settle();
    return reporter.send(this, key(), time, slowdown());
  }

  private void measure() {
    var _ = reporter.measure(this, key(), time, slowdown());
  }

  /** By how much its true step time exceeds the measured one. */
  private double slowdown() {
    return application().slowdown() / (rate * pace);
  }

  /**
   * Its oldest report has arrived: it adapts its batch to the newer model.
   *
   * @return whether the scheduler has not yet seen the job where it is now
   */
  boolean heard() {
    settle();
    double now = clock.now();
    boolean news = reporter.receive(now);
    if (!allocation.isEmpty()) {
      BatchPlan better = reporter.batch(spec, application(), training, key(), now);
      if (!better.equals(batch)) {
        measure();
        train(better);
        reporter.rebatched();
        version++;
      }
    }
    return news;
  }

  /** Its work is done. */
  void finish() {
    settle();
    stepsOnCourse = course.totalSteps();
    finishSeconds = clock.now();
    reporter.finished(this, finishSeconds);
    become(Allocation.NONE);
    version++;
  }

  @Override
  public double stepSeconds(String type, int[] replicasByNode, BatchPlan plan) {
    List<String> known = application().gpuTypes();
    // A policy that knows no types asks for the empty one: then the first type stands for all.
    String asked = type.isEmpty() && !known.contains("") ? known.getFirst() : key(type);
    StepTime at = application().stepTime(asked, replicasByNode, plan.atomicBatchSize());
    return at.isKnown()
        ? at.stepSeconds(plan.accumulationSteps()) * application().slowdown()
        : Double.POSITIVE_INFINITY;
  }

  @Override
  public double remainingSteps(int globalBatch) {
    Course other = courses.at(globalBatch);
    return other == course
        ? course.totalSteps() - stepsNow()
        : other.totalSteps() - other.stepsAt(course.progressAt(stepsNow()));
  }

  private void train(BatchPlan with) {
    double progress = course.progressAt(stepsOnCourse);
    batch = with;
    Course next = courses.at(batch.globalBatchSize(training.replicas()));
    if (next != course) {
      course = next;
      stepsOnCourse = course.stepsAt(progress);
    }
    time = application().stepTime(key(), training.replicaCounts(), batch.atomicBatchSize());
    if (!time.isKnown()) {
      throw new IllegalStateException(
          "%s was never measured with an atomic batch of %d on %s"
              .formatted(application().name(), batch.atomicBatchSize(), training));
    }
  }

  private String key() {
    return key(gpuType);
  }

  /** The name under which the application knows a GPU type. */
  private String key(String type) {
    return application().gpuTypes().contains(type) ? type : "";
  }

  /** Optimizer steps in a second. */
  private double stepRate() {
    return rate * pace / (time.stepSeconds(batch.accumulationSteps()) * application().slowdown());
  }

  private double stepsNow() {
    return allocation.isEmpty() ? stepsOnCourse : stepsOnCourse + trainedSeconds() * stepRate();
  }

  private double trainedSeconds() {
    return Math.max(0, clock.now() - Math.max(settledAt, trainsFrom));
  }

  /** Brings its books up to now. */
  private void settle() {
    if (!allocation.isEmpty()) {
      double seconds = trainedSeconds();
      double trained = seconds * stepRate();
      stepsOnCourse += trained;
      steps += trained;
      examples += trained * course.globalBatch();
      sinceCheckpoint += seconds;
      double interval = VirtualClock.seconds(settings.checkpointInterval());
      if (sinceCheckpoint >= interval) {
        sinceCheckpoint %= interval;
        checkpointSeconds = clock.now() - sinceCheckpoint;
        checkpointProgress = course.progressAt(stepsOnCourse - sinceCheckpoint * stepRate());
      }
    }
    settledAt = clock.now();
  }

  private void saveProgress() {
    checkpointProgress = course.progressAt(stepsOnCourse);
    checkpointSeconds = clock.now();
    sinceCheckpoint = 0;
  }
}
