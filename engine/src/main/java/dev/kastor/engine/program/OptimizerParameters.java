package dev.kastor.engine.program;

import dev.kastor.engine.optim.Optimizers;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.OptimizerPlugin;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.plugin.Chosen;
import dev.kastor.plugin.Option;
import dev.kastor.plugin.Registry;
import dev.kastor.plugin.Selection;
import java.nio.file.Path;

/**
 * Parameters that choose an optimizer, the same in all programs: {@code optimizer} names it and may
 * set its options, as in {@code adam:beta2=0.98}; parameters that are called like an option of it,
 * such as {@code momentum}, set those that it does not.
 */
final class OptimizerParameters {
  private OptimizerParameters() {}

  static Optimizer create(Parameters parameters) throws ProgramException {
    return create(parameters, PluginJars.folder());
  }

  static Optimizer create(Parameters parameters, Path folder) throws ProgramException {
    parameters.decimal("momentum", 0, 0.9999);
    parameters.decimal("weightDecay", 0, 0.9999);
    try {
      Selection selection = Selection.parse(parameters.text("optimizer"));
      Registry<OptimizerPlugin> known =
          PluginJars.registry(selection.name(), Optimizers.BUILT_IN, OptimizerPlugin.class, folder);
      for (Option<?> option : known.get(selection.name()).options()) {
        if (parameters.has(option.name())) {
          selection = selection.orElse(option.name(), parameters.text(option.name()));
        }
      }
      Chosen<OptimizerPlugin> chosen = known.choose(selection);
      Optimizer optimizer = chosen.plugin().create(chosen.options());
      // One that was built for another Kastor lacks methods: told here, not when training begins.
      optimizer.slots(Layout.of("parameters", 1));
      return optimizer;
    } catch (LinkageError e) {
      throw ProgramException.of(
          "optimizer",
          "Parameter 'optimizer': %s does not fit this version of Kastor (%s). Build its jar anew."
              .formatted(parameters.text("optimizer"), e),
          e);
    } catch (IllegalArgumentException e) {
      throw ProgramException.of("optimizer", "Parameter 'optimizer': " + e.getMessage(), e);
    }
  }
}
