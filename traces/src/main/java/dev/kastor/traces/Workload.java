package dev.kastor.traces;

import java.util.Comparator;
import java.util.List;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * Jobs to submit over time.
 *
 * @param name what to call it in a report
 * @param jobs by rising submission time, then in file order
 */
public record Workload(String name, List<Job> jobs) {
  /** What a scheduler may change about a job. */
  public enum Category {
    /** Size and batch. */
    ADAPTIVE,

    /** The size; the global batch is the one asked for. */
    SCALE_GPUS,

    /** Nothing. */
    RIGID,

    /** The size, by a restart of all replicas; the global batch is the one asked for. */
    RESTART
  }

  /** How a job ended where its trace was taken; a replay runs its work whichever it was. */
  public enum Outcome {
    COMPLETED,

    /** By an error. */
    FAILED,

    /** By its owner or the cluster. */
    KILLED
  }

  /** The application of jobs of which only their duration is known. */
  public static final String DURATION_ONLY = "duration";

  /** No upper bound beyond the application's own. */
  public static final int UNBOUNDED = Integer.MAX_VALUE;

  /**
   * One submission.
   *
   * @param name unique in the workload
   * @param submitSeconds from the start of the replay
   * @param application name of its {@link Application}
   * @param minReplicas fewest replicas
   * @param maxReplicas most replicas; {@link #UNBOUNDED} to leave that to the application
   * @param requestedReplicas what its owner would have typed on a cluster without elasticity
   * @param globalBatch the global batch its owner would have typed; 0 for the application's initial
   * @param category what a scheduler may change
   * @param durationSeconds how long it ran on the requested replicas; 0 where its application says
   *     how much work it is
   * @param outcome how it ended where its trace was taken
   * @param queue name of the queue it is submitted to; empty for none
   * @param priority jobs of a higher one come before jobs of a lower one; 0 unless given
   * @param slotsPerReplica GPUs of one node that each replica takes; 1 unless given
   */
  public record Job(
      String name,
      double submitSeconds,
      String application,
      int minReplicas,
      int maxReplicas,
      int requestedReplicas,
      int globalBatch,
      Category category,
      double durationSeconds,
      Outcome outcome,
      String queue,
      int priority,
      int slotsPerReplica) {
    public Job {
      if (slotsPerReplica < 1) {
        throw new IllegalArgumentException(
            "slotsPerReplica of job %s must be at least 1 but is %d"
                .formatted(name, slotsPerReplica));
      }
    }

    /** A job of no queue and priority 0 whose replicas take one slot each. */
    public Job(
        String name,
        double submitSeconds,
        String application,
        int minReplicas,
        int maxReplicas,
        int requestedReplicas,
        int globalBatch,
        Category category,
        double durationSeconds,
        Outcome outcome) {
      this(
          name,
          submitSeconds,
          application,
          minReplicas,
          maxReplicas,
          requestedReplicas,
          globalBatch,
          category,
          durationSeconds,
          outcome,
          "",
          0,
          1);
    }

    /** A job whose application says how much work it is. */
    public Job(
        String name,
        double submitSeconds,
        String application,
        int minReplicas,
        int maxReplicas,
        int requestedReplicas,
        int globalBatch,
        Category category) {
      this(
          name,
          submitSeconds,
          application,
          minReplicas,
          maxReplicas,
          requestedReplicas,
          globalBatch,
          category,
          0,
          Outcome.COMPLETED);
    }

    /** The same of another category. */
    public Job in(Category other) {
      return new Job(
          name,
          submitSeconds,
          application,
          minReplicas,
          maxReplicas,
          requestedReplicas,
          globalBatch,
          other,
          durationSeconds,
          outcome,
          queue,
          priority,
          slotsPerReplica);
    }

    /** The same of another application, which may have any size and batch. */
    public Job adaptive(String other) {
      return new Job(
          name,
          submitSeconds,
          other,
          1,
          UNBOUNDED,
          requestedReplicas,
          globalBatch,
          Category.ADAPTIVE,
          durationSeconds,
          outcome,
          queue,
          priority,
          slotsPerReplica);
    }

    /** The same with another bound on its replicas. */
    public Job atMost(int replicas) {
      return new Job(
          name,
          submitSeconds,
          application,
          minReplicas,
          replicas,
          requestedReplicas,
          globalBatch,
          category,
          durationSeconds,
          outcome,
          queue,
          priority,
          slotsPerReplica);
    }

    /** The same, submitted at another time. */
    public Job submittedAt(double seconds) {
      return new Job(
          name,
          seconds,
          application,
          minReplicas,
          maxReplicas,
          requestedReplicas,
          globalBatch,
          category,
          durationSeconds,
          outcome,
          queue,
          priority,
          slotsPerReplica);
    }

    /** The same in a queue, with a priority. */
    public Job queued(String inQueue, int atPriority) {
      return new Job(
          name,
          submitSeconds,
          application,
          minReplicas,
          maxReplicas,
          requestedReplicas,
          globalBatch,
          category,
          durationSeconds,
          outcome,
          inQueue,
          atPriority,
          slotsPerReplica);
    }

    /** The same with replicas of so many slots. */
    public Job withSlotsPerReplica(int slots) {
      return new Job(
          name,
          submitSeconds,
          application,
          minReplicas,
          maxReplicas,
          requestedReplicas,
          globalBatch,
          category,
          durationSeconds,
          outcome,
          queue,
          priority,
          slots);
    }

    /**
     * Slots that each replica takes on a GPU type: those that the application was measured with
     * there if these are several, else what the job asks for.
     */
    public int slotsPerReplica(Application measured, String gpuType) {
      int there = measured.traits(gpuType).slotsPerReplica();
      return there > 1 ? there : slotsPerReplica;
    }

    /** A rigid job of which only its size and duration are known. */
    public static Job timed(
        String name, double submitSeconds, int replicas, double durationSeconds, Outcome outcome) {
      return new Job(
          name,
          submitSeconds,
          DURATION_ONLY,
          replicas,
          replicas,
          replicas,
          0,
          Category.RIGID,
          durationSeconds,
          outcome);
    }
  }

  public Workload {
    jobs = List.copyOf(jobs);
  }

  /**
   * What a replay assumes of the jobs of which only size and duration are known, as a sentence;
   * empty where there are none.
   */
  public String assumptions() {
    List<Job> timed = jobs.stream().filter(job -> job.durationSeconds() > 0).toList();
    if (timed.isEmpty()) {
      return "";
    }
    SequencedMap<String, Integer> kinds = new TreeMap<>(Comparator.reverseOrder());
    for (Job job : timed) {
      kinds.merge(assumption(job), 1, Integer::sum);
    }
    String known =
        "of %d of %d jobs only size and duration are known: ".formatted(timed.size(), jobs.size());
    if (kinds.size() == 1) {
      return known + "they are " + kinds.firstEntry().getKey();
    }
    StringBuilder text = new StringBuilder();
    kinds.forEach((kind, count) ->
        text.append(text.isEmpty() ? count + " are " : ", " + count + " ").append(kind));
    return known + text;
  }

  private static String assumption(Job job) {
    if (job.category() == Category.RIGID) {
      return "rigid";
    }
    return job.application().equals(DURATION_ONLY)
        ? "faster in proportion to their GPUs, the best that elasticity could bring"
        : "taken to scale like " + job.application();
  }
}
