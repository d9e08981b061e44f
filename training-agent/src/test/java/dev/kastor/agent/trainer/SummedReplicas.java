package dev.kastor.agent.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kastor.engine.train.Optimizer;
import dev.kastor.protocol.BatchPlan;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Replicas of a job whose vectors a loop sums, in the place of a ring.
 *
 * @param plan of all their steps
 * @param replicas in rank order
 * @param models of these
 */
record SummedReplicas(BatchPlan plan, List<Replica> replicas, List<LinearModel> models) {
  static SummedReplicas of(
      BatchPlan plan, int size, Optimizer optimizer, TrainingSettings settings) {
    List<LinearModel> models = new ArrayList<>();
    List<Replica> replicas = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      models.add(new LinearModel());
      replicas.add(replica(models.getLast(), optimizer, settings));
    }
    return new SummedReplicas(plan, replicas, models);
  }

  static Replica replica(LinearModel model, Optimizer optimizer, TrainingSettings settings) {
    Replica replica = new Replica(model, optimizer, settings);
    replica.startFresh();
    return replica;
  }

  Replica first() {
    return replicas.getFirst();
  }

  /** Computes a step or round on all of them. */
  List<LocalStep> compute() throws IOException {
    List<LocalStep> all = new ArrayList<>();
    for (Replica replica : replicas) {
      int rank = all.size();
      replica.select(plan, replicas.size(), rank, _ -> losses());
      all.add(replica.compute(plan, replicas.size(), rank, _ -> {}));
    }
    return all;
  }

  /** No selector that is used with it asks for losses. */
  private static List<byte[]> losses() {
    throw new AssertionError("nobody looks");
  }

  /** Exchanges what they computed. */
  void exchange() {
    int size = replicas.size();
    sum(replicas.stream().map(Replica::gradient).toList());
    sum(replicas.stream().map(Replica::batchStatistics).toList());
    sum(replicas.stream().map(Replica::probe).toList());
    for (int slot = 0; slot < first().slots(size).size(); slot++) {
      int index = slot;
      sum(replicas.stream().map(each -> each.slots(size).get(index)).toList());
    }
  }

  /** Makes each vector the sum of all. */
  static void sum(List<float[]> vectors) {
    float[] sum = new float[vectors.getFirst().length];
    for (float[] vector : vectors) {
      Vectors.add(vector, sum, 0, sum.length);
    }
    vectors.forEach(vector -> System.arraycopy(sum, 0, vector, 0, sum.length));
  }

  /** A step or round, after which all have the same bits; its mean loss. */
  double step() throws Exception {
    List<LocalStep> all = compute();
    exchange();
    double loss = 0;
    for (Replica replica : replicas) {
      loss = replica.apply(all, plan);
    }
    for (Replica replica : replicas) {
      assertThat(StateDigest.of(replica.state())).isEqualTo(StateDigest.of(first().state()));
      assertThat(replica.lostOrRepeated()).isZero();
    }
    return loss;
  }

  void steps(int count) throws Exception {
    for (int i = 0; i < count; i++) {
      step();
    }
  }
}
