package dev.kastor.scheduler.live;

import dev.kastor.protocol.Progress;
import dev.kastor.scheduler.model.Allocation;
import dev.kastor.scheduler.model.JobState;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Job in a {@link LiveDocument}: what a policy is told of it, field by field, and what a replay
 * needs besides.
 *
 * @param allocation replicas by node that it holds
 * @param slotsPerReplica slots of each of those
 * @param model its goodput; absent where nobody knows it
 * @param progress how far it is; absent before the first report
 * @param declaredSteps scale-invariant steps of the work that its spec declares; 0 where it
 *     declares none in steps or examples
 */
public record JobDocument(
    SpecDocument spec,
    Map<String, Integer> allocation,
    int slotsPerReplica,
    @Nullable ModelDocument model,
    int maxProfiledReplicas,
    @Nullable Progress progress,
    String age,
    double attainedService,
    int restarts,
    String rescaleCost,
    String restartCost,
    @Nullable String startCost,
    String sinceChange,
    String unsaved,
    boolean pinned,
    boolean restarting,
    OutlookDocument outlook,
    double declaredSteps,
    boolean stays) {
  public JobDocument {
    // Nodes keep their order: a ring passes through them in it.
    allocation = new LinkedHashMap<>(allocation);
  }

  /** The document of a job. */
  public static JobDocument of(LiveJob job) {
    JobState state = job.state();
    Map<String, Integer> replicas = new LinkedHashMap<>();
    for (int i = 0; i < state.allocation().nodes(); i++) {
      replicas.put(state.allocation().node(i), state.allocation().replicas(i));
    }
    return new JobDocument(
        SpecDocument.of(state.spec()),
        replicas,
        state.allocation().slotsPerReplica(),
        state.model().map(ModelDocument::of).orElse(null),
        state.maxProfiledReplicas(),
        state.progress().orElse(null),
        state.age().toString(),
        state.attainedService(),
        state.restarts(),
        state.rescaleCost().toString(),
        state.restartCost().toString(),
        state.startCost().toString(),
        state.sinceChange().toString(),
        state.unsaved().toString(),
        state.pinned(),
        state.restarting(),
        OutlookDocument.of(state.outlook()),
        state.spec().declaredSteps(),
        job.stays());
  }

  /** The same with another spec on other nodes. */
  JobDocument with(SpecDocument other, Map<String, Integer> onNodes) {
    return new JobDocument(
        other,
        onNodes,
        slotsPerReplica,
        model,
        maxProfiledReplicas,
        progress,
        age,
        attainedService,
        restarts,
        rescaleCost,
        restartCost,
        startCost,
        sinceChange,
        unsaved,
        pinned,
        restarting,
        outlook,
        declaredSteps,
        stays);
  }

  /** The job of the document. */
  public LiveJob job() {
    return new LiveJob(
        new JobState(
            spec.spec().declaring(declaredSteps),
            allocation.isEmpty()
                ? Allocation.NONE
                : new Allocation(new LinkedHashMap<>(allocation), slotsPerReplica),
            Optional.ofNullable(model).map(ModelDocument::model),
            maxProfiledReplicas,
            Optional.ofNullable(progress),
            Duration.parse(age),
            attainedService,
            restarts,
            Duration.parse(rescaleCost),
            Duration.parse(restartCost),
            Duration.parse(startCost == null ? restartCost : startCost),
            Duration.parse(sinceChange),
            Duration.parse(unsaved),
            pinned,
            restarting,
            outlook.outlook(),
            Optional.empty()),
        stays);
  }
}
