package dev.kastor.crds.trainingjob;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the researcher asks for: a program of the engine with its {@code goodput}, or a {@code
 * template} of pods, which come and go if it has {@code goodput} as well and else are a gang; all
 * else has defaults.
 */
@ValidationRule(
    value = "has(self.program) != has(self.template)",
    message =
        "exactly one of program and template is needed: program names a training program of the"
            + " engine, template describes pods of any container")
@ValidationRule(
    value = "!has(self.program) || has(self.goodput)",
    message = "a program needs goodput with batchSize, learningRate.base and work")
@ValidationRule(
    value = "!has(self.program) || !has(self.goodput) || has(self.goodput.work)",
    fieldPath = ".goodput.work",
    reason = "FieldValueRequired",
    message = "a program needs it; only the script of a template may say it itself")
@ValidationRule(
    value =
        "!has(self.program) || !has(self.goodput) || (has(self.goodput.learningRate) &&"
            + " has(self.goodput.learningRate.base))",
    fieldPath = ".goodput.learningRate.base",
    reason = "FieldValueRequired",
    message = "a program needs it; beside a template the optimizer has it")
@ValidationRule(
    value =
        "!has(self.template) || has(self.goodput) || self.elastic.minReplicas =="
            + " self.elastic.maxReplicas || self.elastic.rescale == 'Restart'",
    messageExpression =
        "'a template without goodput runs as a gang of one size, but elastic.minReplicas is %d and"
            + " elastic.maxReplicas %d. Set both to the same number, or elastic.rescale to Restart"
            + " if its script can go on from its own checkpoint in another number of pods, or give"
            + " goodput if its script uses the kastor package.'.format([self.elastic.minReplicas,"
            + " self.elastic.maxReplicas])")
@ValidationRule(
    value = "self.elastic.rescale != 'Restart' || (has(self.template) && !has(self.goodput))",
    fieldPath = ".elastic.rescale",
    message =
        "Restart is for a template without goodput: replicas of a program, or of a template with"
            + " goodput, come and go while the others train. Leave it out.")
@ValidationRule(
    value = "self.elastic.rescale == oldSelf.elastic.rescale",
    message = "elastic.rescale cannot change after creation: submit a new job")
@ValidationRule(
    value = Unchanging.PROGRAM,
    message = "program cannot change after creation: submit a new job")
@ValidationRule(
    value = Unchanging.GOODPUT,
    message = "goodput cannot change after creation: submit a new job")
@ValidationRule(
    value = Unchanging.TEMPLATE,
    message = "template cannot change after creation: submit a new job")
@ValidationRule(
    value = Unchanging.TRAINING,
    message = "training cannot change after creation: submit a new job")
@ValidationRule(
    value = "!has(self.training) || has(self.program)",
    fieldPath = ".training",
    message = "features of training are for a program: a template trains by its own code")
@ValidationRule(
    value = Unchanging.FAMILY,
    message = "family cannot change after creation: submit a new job")
@ValidationRule(
    value = Unchanging.PROFILE,
    message = "profile cannot change after creation: submit a new job")
@ValidationRule(
    value = Unchanging.SLOTS_PER_REPLICA,
    message = "elastic.slotsPerReplica cannot change after creation: submit a new job")
@ValidationRule(
    value = Unchanging.WARM_START,
    message = "checkpoint.warmStart cannot change after creation: submit a new job")
@ValidationRule(
    value = "!has(self.checkpoint.warmStart) || has(self.goodput)",
    fieldPath = ".checkpoint.warmStart",
    message =
        "a template without goodput is a gang, whose script reads and writes checkpoints of its"
            + " own: give the script the path of the other job's")
@ValidationRule(
    value = "self.managedBy == oldSelf.managedBy",
    message = "managedBy cannot change after creation: submit a new job")
@ValidationRule(
    value =
        "!has(self.goodput) || self.goodput.batchSize.gradientAccumulation ||"
            + " self.goodput.batchSize.initial <= self.elastic.minReplicas *"
            + " self.goodput.batchSize.perDevice.max",
    messageExpression =
        "'batchSize.initial (%d) does not fit minReplicas (%d) times perDevice.max (%d). Allow"
            + " gradientAccumulation or raise one of them.'.format([self.goodput.batchSize.initial,"
            + " self.elastic.minReplicas, self.goodput.batchSize.perDevice.max])")
@ValidationRule(
    value =
        "!has(self.goodput) || self.elastic.minReplicas * self.goodput.batchSize.perDevice.min <="
            + " (self.goodput.mode == 'Fixed' ? self.goodput.batchSize.initial :"
            + " has(self.goodput.batchSize.max) ? self.goodput.batchSize.max : 16 *"
            + " self.goodput.batchSize.initial)",
    messageExpression =
        "'minReplicas (%d) times perDevice.min (%d) exceeds the largest global batch. Lower one of"
            + " them or raise batchSize.'.format([self.elastic.minReplicas,"
            + " self.goodput.batchSize.perDevice.min])")
public record TrainingJobSpec(
    @JsonPropertyDescription("Stop at a checkpoint and release all replicas until set to false.")
        @Default("false")
        @Nullable Boolean suspend,
    @JsonPropertyDescription(
            "Queue that the job belongs to. Queues share the cluster by their weights.")
        @Pattern("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
        @Size(max = 63)
        @Nullable String queue,
    @JsonPropertyDescription("Jobs of a higher priority come before jobs of a lower one.")
        @Min(-1000)
        @Max(1000)
        @Default("0")
        @Nullable Integer priority,
    @JsonPropertyDescription(
            "Jobs of one family train the same model on the same data: a later one begins with what"
                + " earlier ones learnt. Without it, jobs of one image and program, or of one image"
                + " and command, are one family.")
        @Pattern("^[a-z0-9]([-._a-z0-9]*[a-z0-9])?$")
        @Size(max = 63)
        @Nullable String family,
    @JsonPropertyDescription("How many replicas the job may run with, and how large each is.")
        @Default(
            "{\"minReplicas\":1,\"maxReplicas\":1,\"allowedReplicas\":\"Any\",\"rescale\":\"Live\"}")
        @Nullable ElasticSpec elastic,
    @JsonPropertyDescription(
            "Batch sizes, learning rate and declared work of a program, or of a template whose"
                + " script uses the kastor package and is resized.")
        @Nullable GoodputSpec goodput,
    @JsonPropertyDescription(
            "How often state is saved, how much of it is kept, and whose parameters the job begins"
                + " with.")
        @Default("{}")
        @Nullable CheckpointSpec checkpoint,
    @JsonPropertyDescription("What happens when replicas fail.") @Default("{}")
        @Nullable FaultToleranceSpec faultTolerance,
    @JsonPropertyDescription("The training program that every replica runs.")
        @Nullable ProgramSpec program,
    @JsonPropertyDescription(
            "A pod template of any container instead of a program. With goodput, each pod is a"
                + " replica that comes and goes while the others train; without, a gang of pods"
                + " that start together, restart together and succeed together, in one number"
                + " unless elastic.rescale is Restart.")
        @Nullable Map<String, Object> template,
    @JsonPropertyDescription(
            "Name of the ClusterTrainingProfile that completes the pods; without it, the profile"
                + " that is marked as the default, if there is one.")
        @Pattern("^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$")
        @Size(max = 253)
        @Nullable String profile,
    @JsonPropertyDescription("How long the job may wait, start, run and stay.") @Default("{}")
        @Nullable LifecycleSpec lifecycle,
    @JsonPropertyDescription(
            "Who runs the job. The operator leaves jobs alone that name anyone but"
                + " kastor.dev/operator.")
        @Pattern("^[a-z0-9]([-.a-z0-9]*[a-z0-9])?/[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$")
        @Size(max = 63)
        @Default(TrainingJobSpec.OPERATOR)
        @Nullable String managedBy,
    @JsonPropertyDescription(
            "Features of training, for a program: passes, by name on or off, gradients, a list of"
                + " what is done to the gradient, codec, what stands for it between replicas,"
                + " updates, a list of what is done to the parameters after a step, select, what"
                + " chooses the examples that are trained, tune, what changes the learning rate,"
                + " sync, when replicas exchange what they learned, collective, how they sum,"
                + " devices, how those of a replica share a pass, and drift, repair or fail, what is"
                + " done where states of replicas differ.")
        @Nullable Map<String, Object> training) {
  /** The {@code managedBy} of jobs that this operator runs. */
  public static final String OPERATOR = "kastor.dev/operator";

  /** A job of a program with nothing special about its life. */
  public TrainingJobSpec(
      @Nullable Boolean suspend,
      @Nullable String queue,
      @Nullable Integer priority,
      @Nullable String family,
      @Nullable ElasticSpec elastic,
      @Nullable GoodputSpec goodput,
      @Nullable CheckpointSpec checkpoint,
      @Nullable FaultToleranceSpec faultTolerance,
      @Nullable ProgramSpec program) {
    this(
        suspend,
        queue,
        priority,
        family,
        elastic,
        goodput,
        checkpoint,
        faultTolerance,
        program,
        null,
        null,
        null,
        null,
        null);
  }

  /** Whether the job should hold no replicas. */
  public boolean suspended() {
    return Boolean.TRUE.equals(suspend);
  }

  /** Whether the job is for this operator to run. */
  public boolean ours() {
    return managedBy == null || managedBy.equals(OPERATOR);
  }

  /** Whose parameters the job begins with; empty for fresh ones. */
  public Optional<WarmStartSpec> warmStart() {
    return Optional.ofNullable(checkpoint).map(CheckpointSpec::warmStart);
  }

  /** Whether the job is a gang: pods of any container, all or none. */
  public boolean gang() {
    return template != null && goodput == null;
  }

  /** Slots of each replica. */
  public int slotsPerReplica() {
    Integer slots = elastic == null ? null : elastic.slotsPerReplica();
    return slots == null ? 1 : slots;
  }

  /** Whether the job is a gang whose size changes by a restart of all its pods. */
  public boolean restartsToRescale() {
    return gang() && elastic != null && elastic.rescale() == ElasticSpec.Rescale.Restart;
  }

  /** The program of a job that has one. */
  public ProgramSpec programOrThrow() {
    return Objects.requireNonNull(program, "a job with a template has no program");
  }

  /** What the job runs, for people: its program, or the image of its pods. */
  public String runs() {
    return program == null ? TemplateContainer.of(template).image() : program.name();
  }

  /** What jobs that train the same have in common: the program, or image and command. */
  public String runsKey() {
    return program == null ? TemplateContainer.of(template).key() : program.name();
  }

  /** The same with replicas of so many slots. */
  public TrainingJobSpec withSlotsPerReplica(int slots) {
    ElasticSpec sizes = elastic == null ? new ElasticSpec(null, null, null) : elastic;
    return new TrainingJobSpec(
        suspend,
        queue,
        priority,
        family,
        sizes.withSlotsPerReplica(slots),
        goodput,
        checkpoint,
        faultTolerance,
        program,
        template,
        profile,
        lifecycle,
        managedBy,
        training);
  }

  /** The same without the template. */
  public TrainingJobSpec withoutTemplate() {
    return new TrainingJobSpec(
        suspend,
        queue,
        priority,
        family,
        elastic,
        goodput,
        checkpoint,
        faultTolerance,
        program,
        null,
        profile,
        lifecycle,
        managedBy,
        training);
  }

  /** The same, with all defaults, where at most so many examples fit a device in one pass. */
  public TrainingJobSpec fitting(int mostExamples) {
    TrainingJobSpec complete = SpecDefaults.complete(this);
    GoodputSpec asked = complete.goodputOrThrow();
    return new TrainingJobSpec(
        complete.suspend,
        complete.queue,
        complete.priority,
        complete.family,
        complete.elastic,
        new GoodputSpec(
            asked.mode(),
            asked.batchSize().fitting(mostExamples),
            asked.learningRate(),
            asked.work()),
        complete.checkpoint,
        complete.faultTolerance,
        complete.program,
        complete.template,
        complete.profile,
        complete.lifecycle,
        complete.managedBy,
        complete.training);
  }

  /** The goodput section of a job that has one. */
  public GoodputSpec goodputOrThrow() {
    return Objects.requireNonNull(goodput, "a gang has no goodput");
  }
}
