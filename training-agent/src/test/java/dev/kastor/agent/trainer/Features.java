package dev.kastor.agent.trainer;

import dev.kastor.engine.graph.pass.PassPipeline;
import dev.kastor.engine.program.TrainingMethod;
import dev.kastor.engine.train.CollectivePlugin;
import dev.kastor.engine.train.ExampleSelectorPlugin;
import dev.kastor.engine.train.GradientCodecPlugin;
import dev.kastor.engine.train.GradientStage;
import dev.kastor.engine.train.SyncPolicyPlugin;
import dev.kastor.engine.train.TunerPlugin;
import dev.kastor.engine.train.UpdateStagePlugin;
import dev.kastor.plugin.Chosen;
import dev.kastor.training.Drift;
import java.util.List;
import java.util.Optional;

/** Methods of training with some features, where a difference of states ends the job. */
final class Features {
  private Features() {}

  static TrainingMethod gradients(List<GradientStage> stages) {
    return method(
        stages, Optional.empty(), List.of(), Optional.empty(), Optional.empty(), Optional.empty());
  }

  static TrainingMethod codec(Optional<Chosen<GradientCodecPlugin>> codec) {
    return method(
        List.of(), codec, List.of(), Optional.empty(), Optional.empty(), Optional.empty());
  }

  static TrainingMethod updates(List<Chosen<UpdateStagePlugin>> stages) {
    return method(
        List.of(), Optional.empty(), stages, Optional.empty(), Optional.empty(), Optional.empty());
  }

  static TrainingMethod select(Optional<Chosen<ExampleSelectorPlugin>> selector) {
    return method(
        List.of(), Optional.empty(), List.of(), selector, Optional.empty(), Optional.empty());
  }

  static TrainingMethod tune(Optional<Chosen<TunerPlugin>> tuner) {
    return method(
        List.of(), Optional.empty(), List.of(), Optional.empty(), tuner, Optional.empty());
  }

  static TrainingMethod sync(Chosen<SyncPolicyPlugin> policy) {
    return method(
        List.of(),
        Optional.empty(),
        List.of(),
        Optional.empty(),
        Optional.empty(),
        Optional.of(policy));
  }

  static TrainingMethod method(
      List<GradientStage> gradients,
      Optional<Chosen<GradientCodecPlugin>> codec,
      List<Chosen<UpdateStagePlugin>> updates,
      Optional<Chosen<ExampleSelectorPlugin>> selector,
      Optional<Chosen<TunerPlugin>> tuner,
      Optional<Chosen<SyncPolicyPlugin>> sync) {
    return new TrainingMethod(
        PassPipeline.USUAL,
        gradients,
        codec,
        updates,
        selector,
        tuner,
        sync,
        Optional.empty(),
        Optional.empty(),
        Drift.FAIL);
  }

  /** The same features where another thing is done with differences. */
  static TrainingMethod drift(TrainingMethod method, Drift drift) {
    return new TrainingMethod(
        method.passes(),
        method.gradients(),
        method.codec(),
        method.updates(),
        method.select(),
        method.tune(),
        method.sync(),
        method.collective(),
        method.devices(),
        drift);
  }

  /** A method with a collective beside its other features. */
  static TrainingMethod collective(TrainingMethod others, Chosen<CollectivePlugin> collective) {
    return new TrainingMethod(
        others.passes(),
        others.gradients(),
        others.codec(),
        others.updates(),
        others.select(),
        others.tune(),
        others.sync(),
        Optional.of(collective),
        others.devices(),
        others.drift());
  }
}
