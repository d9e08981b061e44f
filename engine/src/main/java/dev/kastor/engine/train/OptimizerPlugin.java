package dev.kastor.engine.train;

import dev.kastor.plugin.Option;
import dev.kastor.plugin.Options;
import dev.kastor.plugin.Plugin;
import java.util.List;
import java.util.function.Function;

/** Plug-in that describes and creates an optimizer; its options are hyperparameters. */
public interface OptimizerPlugin extends Plugin {
  /** The optimizer with these hyperparameters. */
  Optimizer create(Options options);

  /**
   * A plug-in of these parts.
   *
   * @param create creates the optimizer
   */
  static OptimizerPlugin of(
      String name,
      String description,
      List<Option<?>> options,
      Function<Options, Optimizer> create) {
    return new OptimizerPlugin() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public String description() {
        return description;
      }

      @Override
      public List<Option<?>> options() {
        return options;
      }

      @Override
      public Optimizer create(Options values) {
        return create.apply(values);
      }
    };
  }
}
