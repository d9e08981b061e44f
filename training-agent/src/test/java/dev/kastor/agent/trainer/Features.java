package dev.kastor.agent.trainer;

import dev.kastor.engine.graph.pass.PassPipeline;
import dev.kastor.engine.program.TrainingMethod;
import dev.kastor.engine.train.ExampleSelectorPlugin;
import dev.kastor.engine.train.GradientCodecPlugin;
import dev.kastor.engine.train.GradientStage;
import dev.kastor.engine.train.UpdateStagePlugin;
import dev.kastor.plugin.Chosen;
import java.util.List;
import java.util.Optional;

/** Methods of training with features of one kind. */
final class Features {
  private Features() {}

  static TrainingMethod gradients(List<GradientStage> stages) {
    return new TrainingMethod(
        PassPipeline.USUAL, stages, Optional.empty(), List.of(), Optional.empty());
  }

  static TrainingMethod codec(Optional<Chosen<GradientCodecPlugin>> codec) {
    return new TrainingMethod(PassPipeline.USUAL, List.of(), codec, List.of(), Optional.empty());
  }

  static TrainingMethod updates(List<Chosen<UpdateStagePlugin>> stages) {
    return new TrainingMethod(
        PassPipeline.USUAL, List.of(), Optional.empty(), stages, Optional.empty());
  }

  static TrainingMethod select(Optional<Chosen<ExampleSelectorPlugin>> selector) {
    return new TrainingMethod(PassPipeline.USUAL, List.of(), Optional.empty(), List.of(), selector);
  }
}
