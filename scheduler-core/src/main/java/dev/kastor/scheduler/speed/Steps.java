package dev.kastor.scheduler.speed;

import dev.kastor.protocol.StepProfile;
import dev.kastor.scheduler.goodput.GoodputModel;
import dev.kastor.scheduler.goodput.PlacementShape;
import java.util.List;
import java.util.Optional;

/**
 * Steps that a job reported, and the nodes that they were made on.
 *
 * @param owner whose evidence it is: nobody else's nodes are called slow by it alone
 * @param family jobs whose steps take as long as these
 * @param job the job, unique in the cluster
 * @param profile their time
 * @param nodes the nodes, at least one
 * @param model goodput of the job as far as it is known: it says how step times grow with the batch
 */
record Steps(
    String owner,
    String family,
    String job,
    StepProfile profile,
    List<String> nodes,
    Optional<GoodputModel> model) {
  /** Layout of replicas on one GPU type, within which steps of a family can be compared. */
  record Layout(String family, String gpuType, int nodes, int replicas) {}

  Layout layout() {
    return new Layout(family, profile.typeOrEmpty(), profile.nodes(), profile.replicas());
  }

  /** Factor from the step time at another batch to that at the batch of these; NaN if unknown. */
  double scale(int atomicBatch) {
    int own = profile.atomicBatchSize();
    if (atomicBatch == own) {
      return 1;
    }
    String type = profile.typeOrEmpty();
    if (model.filter(known -> known.knows(type)).isEmpty()) {
      return Double.NaN;
    }
    PlacementShape shape = new PlacementShape(profile.nodes(), profile.replicas(), type);
    var params = model.get().params(type);
    return params.updateSeconds(shape, own) / params.updateSeconds(shape, atomicBatch);
  }
}
