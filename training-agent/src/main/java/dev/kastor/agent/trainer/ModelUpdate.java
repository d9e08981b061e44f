package dev.kastor.agent.trainer;

import dev.kastor.engine.program.TrainingMethod;
import dev.kastor.engine.train.DeviceTraining;
import dev.kastor.engine.train.GradientStage;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Section;
import dev.kastor.engine.train.Trainable;
import dev.kastor.engine.train.TrainingState;
import dev.kastor.engine.train.Update;
import dev.kastor.engine.train.UpdateStage;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * What a gradient does to a model: stages of gradients, the optimizer with its slots, stages of
 * updates, and running statistics.
 *
 * <p>One thread owns it.
 */
final class ModelUpdate {
  private final Trainable model;
  private final Optimizer optimizer;
  private final List<GradientStage> gradientStages;
  private final List<UpdateStage> updateStages;
  private final SequencedMap<String, float[]> slots;

  /** Null where the host updates the model. */
  private final @Nullable DeviceTraining device;

  ModelUpdate(Trainable model, Optimizer optimizer, TrainingMethod method) {
    this.model = model;
    this.optimizer = optimizer;
    this.gradientStages = method.gradients();
    this.updateStages = method.updates(model.layout());
    this.slots = optimizer.newSlots(model.layout());
    // Stages and rounds work on the host's vectors, which would be copied there and back.
    boolean host = !updateStages.isEmpty() || method.syncPolicy().isPresent();
    this.device = host ? null : model.onDevice(optimizer, slots).orElse(null);
  }

  /**
   * Steps whose gradients need not come to the host: those of one replica without stages of
   * gradients; null where there are none.
   */
  @Nullable DeviceTraining onDevice(int replicas) {
    return replicas == 1 && gradientStages.isEmpty() ? device : null;
  }

  /** Whether gradients are changed before the optimizer sees them. */
  boolean hasGradientStages() {
    return !gradientStages.isEmpty();
  }

  /**
   * Applies the stages of gradients.
   *
   * @throws DivergedException if the gradient is not finite any more
   */
  void change(float[] gradient, GradientStage.StepView view) throws DivergedException {
    for (GradientStage stage : gradientStages) {
      stage.change(gradient, view);
      if (!Double.isFinite(Vectors.squaredNorm(gradient))) {
        throw new DivergedException(
            "the gradient of step %d is not finite after the gradient stage %s"
                .formatted(view.step(), stage.getClass().getName()));
      }
    }
  }

  /**
   * Updates parameters, slots and statistics.
   *
   * @param gradient after its stages; may be overwritten. Null for that of {@link #onDevice}
   * @param batchStatistics mean over the passes of the step
   * @param learningRate of the step
   * @param step steps applied before it
   */
  void apply(float @Nullable [] gradient, float[] batchStatistics, double learningRate, long step) {
    if (device != null) {
      if (gradient != null) {
        device.write(gradient);
      }
      device.apply(learningRate, step);
    } else {
      Update update =
          new Update(
              model.layout(),
              model.parameters(),
              Objects.requireNonNull(gradient),
              slots,
              learningRate,
              step);
      optimizer.apply(update);
      updateStages.forEach(stage -> stage.change(update));
    }
    model.applyStatistics(batchStatistics);
  }

  /** Takes over parameters and slots that were written to the vectors of a state. */
  void restored() {
    // Whoever asks for them to write has the newest ones.
    model.parameters();
    if (device != null) {
      device.replaced();
    }
  }

  /** The optimizer's vectors, which the host updates; live. */
  List<float[]> slots() {
    return List.copyOf(slots.values());
  }

  /** Sections of the optimizer's vectors with their newest values. */
  List<Section> sections() {
    return slots.entrySet().stream()
        .map(slot ->
            Section.of(
                TrainingState.slot(optimizer, slot.getKey()),
                device == null ? slot.getValue() : device.readSlot(slot.getKey())))
        .toList();
  }
}
