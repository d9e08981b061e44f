package dev.kastor.engine.program;

import dev.kastor.engine.codec.GradientCodecs;
import dev.kastor.engine.collective.Collectives;
import dev.kastor.engine.devices.DeviceLayouts;
import dev.kastor.engine.graph.pass.GraphPass;
import dev.kastor.engine.graph.pass.GraphPasses;
import dev.kastor.engine.graph.pass.PassPipeline;
import dev.kastor.engine.select.ExampleSelectors;
import dev.kastor.engine.sync.SyncPolicies;
import dev.kastor.engine.tensor.Layout;
import dev.kastor.engine.train.CollectivePlugin;
import dev.kastor.engine.train.DevicesPlugin;
import dev.kastor.engine.train.ExampleSelector;
import dev.kastor.engine.train.ExampleSelectorPlugin;
import dev.kastor.engine.train.GradientCodecPlugin;
import dev.kastor.engine.train.GradientStage;
import dev.kastor.engine.train.GradientStagePlugin;
import dev.kastor.engine.train.PassSettings;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.ServerPlan;
import dev.kastor.engine.train.SyncPolicy;
import dev.kastor.engine.train.SyncPolicyPlugin;
import dev.kastor.engine.train.Trainable;
import dev.kastor.engine.train.Tuner;
import dev.kastor.engine.train.TunerPlugin;
import dev.kastor.engine.train.UpdateStage;
import dev.kastor.engine.train.UpdateStagePlugin;
import dev.kastor.engine.tune.Tuners;
import dev.kastor.engine.update.UpdateStages;
import dev.kastor.plugin.Chosen;
import dev.kastor.plugin.Plugin;
import dev.kastor.plugin.Registry;
import dev.kastor.plugin.Selection;
import dev.kastor.training.Drift;
import dev.kastor.training.Feature;
import dev.kastor.training.TrainingChoices;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Features of training that a job uses, made from its {@code spec.training}.
 *
 * @param passes rewrites of the graphs of its model
 * @param gradients what is done to its mean gradient, in this order
 * @param codec what stands for gradients between its replicas; empty for the gradients themselves
 * @param updates what is done to its parameters after the optimizer's step, in this order
 * @param select what chooses the examples that are trained; empty for all of them
 * @param tune what changes the learning rate while it trains; empty for nothing
 * @param sync when its replicas exchange what they learned; empty for in every step
 * @param collective how its replicas sum; empty for over one ring
 * @param devices how the devices of a replica share a pass; empty for all of it on one
 * @param drift what is done where the states of its replicas differ
 */
public record TrainingMethod(
    PassPipeline passes,
    List<GradientStage> gradients,
    Optional<Chosen<GradientCodecPlugin>> codec,
    List<Chosen<UpdateStagePlugin>> updates,
    Optional<Chosen<ExampleSelectorPlugin>> select,
    Optional<Chosen<TunerPlugin>> tune,
    Optional<Chosen<SyncPolicyPlugin>> sync,
    Optional<Chosen<CollectivePlugin>> collective,
    Optional<Chosen<DevicesPlugin>> devices,
    Drift drift) {
  /** Training of a job that chooses nothing. */
  public static final TrainingMethod USUAL =
      new TrainingMethod(
          PassPipeline.USUAL,
          List.of(),
          Optional.empty(),
          List.of(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Drift.REPAIR);

  /** Gradient stages are in jars alone. */
  private static final Registry<GradientStagePlugin> STAGES =
      Registry.of("gradient stage", List.of());

  public TrainingMethod {
    gradients = List.copyOf(gradients);
    updates = List.copyOf(updates);
  }

  /**
   * The method of some choices, with the plug-ins in the folder of the jars of programs.
   *
   * @throws ProgramException if a feature or an option is unknown, a value is not valid, or two
   *     features make no sense together; the message lists what there is
   */
  public static TrainingMethod of(TrainingChoices choices) throws ProgramException {
    return of(choices, PluginJars.folder());
  }

  static TrainingMethod of(TrainingChoices choices, Path folder) throws ProgramException {
    if (choices.equals(TrainingChoices.NONE)) {
      return USUAL;
    }
    List<Feature> chosen = new ArrayList<>();
    PassPipeline passes = passes(choices.passes(), folder, chosen);
    List<Chosen<GradientStagePlugin>> gradients =
        features(
            "training.gradients",
            choices.gradients(),
            STAGES,
            GradientStagePlugin.class,
            folder,
            chosen);
    Optional<Chosen<GradientCodecPlugin>> codec =
        feature(
            "training.codec",
            choices.codec(),
            GradientCodecs.BUILT_IN,
            GradientCodecPlugin.class,
            folder,
            chosen);
    List<Chosen<UpdateStagePlugin>> updates =
        features(
            "training.updates",
            choices.updates(),
            UpdateStages.BUILT_IN,
            UpdateStagePlugin.class,
            folder,
            chosen);
    Optional<Chosen<ExampleSelectorPlugin>> select =
        feature(
            "training.select",
            choices.select(),
            ExampleSelectors.BUILT_IN,
            ExampleSelectorPlugin.class,
            folder,
            chosen);
    Optional<Chosen<TunerPlugin>> tune =
        feature(
            "training.tune", choices.tune(), Tuners.BUILT_IN, TunerPlugin.class, folder, chosen);
    Optional<Chosen<SyncPolicyPlugin>> sync =
        feature(
            "training.sync",
            choices.sync(),
            SyncPolicies.BUILT_IN,
            SyncPolicyPlugin.class,
            folder,
            chosen);
    Optional<Chosen<CollectivePlugin>> collective =
        feature(
            "training.collective",
            choices.collective(),
            Collectives.BUILT_IN,
            CollectivePlugin.class,
            folder,
            chosen);
    Optional<Chosen<DevicesPlugin>> devices =
        feature(
            "training.devices",
            choices.devices(),
            DeviceLayouts.BUILT_IN,
            DevicesPlugin.class,
            folder,
            chosen);
    try {
      Feature.checkTogether(chosen);
    } catch (IllegalArgumentException e) {
      throw new ProgramException("training: " + e.getMessage(), e);
    }
    checkCodes(codec, collective);
    TrainingMethod method =
        new TrainingMethod(
            without(passes, chosen),
            stages(gradients, folder),
            codec,
            updates,
            select,
            tune,
            sync,
            collective,
            devices,
            choices.drift());
    method.checkServers(gradients);
    return method;
  }

  /**
   * A server has a shard of the mean gradient, no worker has any of it, and none hears of others:
   * features that need one of these have no place to be.
   */
  private void checkServers(List<Chosen<GradientStagePlugin>> stages) throws ProgramException {
    try {
      if (servers().isEmpty()) {
        return;
      }
    } catch (IllegalArgumentException e) {
      throw new ProgramException("training.sync: " + e.getMessage(), e);
    }
    Optional<String> other =
        Stream.of(
                stages.stream().map(each -> "gradients " + each.name()),
                codec.stream().map(each -> "codec " + each.name()),
                updates.stream().map(each -> "updates " + each.name()),
                select.stream().map(each -> "select " + each.name()),
                collective.stream().map(each -> "collective " + each.name()))
            .flatMap(each -> each)
            .findFirst();
    if (other.isPresent()) {
      throw new ProgramException(
          "training: %s and sync %s make no sense together, as no process has a whole mean gradient or sums it with others. Choose one of them."
              .formatted(other.get(), sync.orElseThrow().name()));
    }
  }

  /** Codes are no numbers that could be summed, so whatever sums has no use for them. */
  private static void checkCodes(
      Optional<Chosen<GradientCodecPlugin>> codec, Optional<Chosen<CollectivePlugin>> collective)
      throws ProgramException {
    if (codec.isPresent()
        && collective.isPresent()
        && !collective.get().name().equals(Collectives.RING)) {
      throw new ProgramException(
          "training: codec %s and collective %s make no sense together, as codes go around the ring and cannot be summed on the way. Choose one of them."
              .formatted(codec.get().name(), collective.get().name()));
    }
  }

  /**
   * Checks that replicas have the devices that passes need.
   *
   * @throws ProgramException if not; the message says how many
   */
  public void checkSlots(int slots) throws ProgramException {
    try {
      devices.ifPresent(layout -> layout.plugin().devices(slots));
    } catch (IllegalArgumentException e) {
      throw new ProgramException("training.devices: " + e.getMessage() + ".", e);
    }
  }

  /**
   * Checks that a step can have a worker that is no backup.
   *
   * @param most replicas of the job
   * @throws ProgramException if not
   */
  private void checkReplicas(int most) throws ProgramException {
    int backup = servers().map(ServerPlan::backup).orElse(0);
    if (backup >= most) {
      throw new ProgramException(
          "training.sync: backup (%d) leaves no worker for a step of at most %d replicas. Raise elastic.maxReplicas above it, or lower it."
              .formatted(backup, most));
    }
  }

  /**
   * Settings of the passes of a replica's model.
   *
   * @param slots of the replica
   */
  public PassSettings passSettings(int slots) {
    return new PassSettings(passes, devices, slots);
  }

  /**
   * Checks that a model can be trained so.
   *
   * @throws ProgramException if not; the message names the feature and says why
   */
  public void checkModel(Trainable model) throws ProgramException {
    for (Chosen<UpdateStagePlugin> stage : updates) {
      try {
        stage.plugin().create(stage.options(), model.layout());
      } catch (IllegalArgumentException e) {
        throw new ProgramException(
            "training.updates: update stage %s: %s. Take it out."
                .formatted(stage.name(), e.getMessage()),
            e);
      }
    }
    if (select.isPresent()
        && select.get().plugin().usesLosses()
        && model.exampleLosses().isEmpty()) {
      throw new ProgramException(
          "training.select: %s looks at the losses of single examples, which the model of this program does not tell. Choose random, or implement Trainable.exampleLosses."
              .formatted(select.get().name()));
    }
  }

  /**
   * A selector of examples that has judged nothing yet; empty where all are trained.
   *
   * @param examples of the training set
   * @param seed of the job's order of examples
   */
  public Optional<ExampleSelector> selector(int examples, long seed) {
    return select.map(chosen -> chosen.plugin().create(chosen.options(), examples, seed));
  }

  /** A tuner that knows of no step yet; empty where the rule alone gives the learning rate. */
  public Optional<Tuner> tuner() {
    return tune.map(chosen -> chosen.plugin().create(chosen.options()));
  }

  /** A policy that knows of no round yet; empty where replicas exchange in every step. */
  public Optional<SyncPolicy> syncPolicy() {
    return servers().isPresent()
        ? Optional.empty()
        : sync.map(chosen -> chosen.plugin().create(chosen.options()));
  }

  /** Servers that keep the parameters; empty where each replica has them. */
  public Optional<ServerPlan> servers() {
    return sync.flatMap(chosen -> chosen.plugin().servers(chosen.options()));
  }

  /** The update stages for a model of this layout. */
  public List<UpdateStage> updates(Layout layout) {
    return updates.stream().map(stage -> stage.plugin().create(stage.options(), layout)).toList();
  }

  /** A pass that nobody switched gives way to what was chosen and makes no sense beside it. */
  private static PassPipeline without(PassPipeline passes, List<Feature> chosen) {
    return new PassPipeline(
        passes.passes().stream()
            .filter(pass ->
                passes.switches().containsKey(pass.name())
                    || chosen.stream().noneMatch(pass::isExclusiveOf))
            .toList(),
        passes.switches());
  }

  /** A pass of a jar is applied where it is switched on, and nowhere else. */
  private static PassPipeline passes(
      Map<String, Boolean> switches, Path folder, List<Feature> chosen) throws ProgramException {
    try {
      Registry<GraphPass> known =
          registry(switches.keySet(), GraphPasses.BUILT_IN, GraphPass.class, folder);
      List<GraphPass> used = new ArrayList<>(GraphPasses.BUILT_IN.all());
      // By name: the API server keeps no order of a map.
      for (String name : new TreeSet<>(switches.keySet())) {
        GraphPass pass = known.get(name);
        if (!used.contains(pass)) {
          used.add(pass);
        }
        if (switches.getOrDefault(name, false)) {
          chosen.add(pass);
        }
      }
      return new PassPipeline(used, switches);
    } catch (IllegalArgumentException e) {
      throw unusable("training.passes", e, folder);
    }
  }

  private static List<GradientStage> stages(List<Chosen<GradientStagePlugin>> chosen, Path folder)
      throws ProgramException {
    try {
      return chosen.stream().map(stage -> stage.plugin().create(stage.options())).toList();
    } catch (IllegalArgumentException e) {
      throw unusable("training.gradients", e, folder);
    }
  }

  private static <P extends Feature> Optional<Chosen<P>> feature(
      String field,
      Optional<Selection> selection,
      Registry<P> builtIn,
      Class<P> type,
      Path folder,
      List<Feature> chosen)
      throws ProgramException {
    return features(field, selection.stream().toList(), builtIn, type, folder, chosen).stream()
        .findFirst();
  }

  private static <P extends Feature> List<Chosen<P>> features(
      String field,
      Collection<Selection> selections,
      Registry<P> builtIn,
      Class<P> type,
      Path folder,
      List<Feature> chosen)
      throws ProgramException {
    List<Chosen<P>> features = new ArrayList<>();
    try {
      List<String> names = selections.stream().map(Selection::name).toList();
      Registry<P> known = registry(names, builtIn, type, folder);
      for (Selection selection : selections) {
        Chosen<P> feature = known.choose(selection);
        chosen.add(feature.plugin());
        features.add(feature);
      }
      return features;
    } catch (IllegalArgumentException e) {
      throw unusable(field, e, folder);
    }
  }

  private static <P extends Plugin> Registry<P> registry(
      Collection<String> names, Registry<P> builtIn, Class<P> type, Path folder)
      throws ProgramException {
    for (String name : names) {
      if (!builtIn.names().contains(name)) {
        return PluginJars.registry(name, builtIn, type, folder);
      }
    }
    return builtIn;
  }

  private static ProgramException unusable(String field, IllegalArgumentException e, Path folder) {
    String message = String.valueOf(e.getMessage());
    return new ProgramException(
        "%s: %s%s Jars are looked for in %s."
            .formatted(field, message, message.matches(".*[.?]") ? "" : ".", folder),
        e);
  }

  /**
   * The first problem of a job's choices on the machine that has the jars, before it is stored.
   *
   * @param training {@code spec.training} in its free form
   * @param slots of a replica
   * @param mostReplicas of the job
   * @param parameters of the program, as the user gave them
   * @param plugins folder of the jars
   * @return a message that begins with the path below {@code spec}; empty if there is none
   */
  public static Optional<String> problem(
      Map<String, ?> training,
      int slots,
      int mostReplicas,
      Map<String, String> parameters,
      Path plugins) {
    try {
      TrainingMethod method =
          of(
              SumsParameter.take(new HashMap<>(parameters), TrainingChoices.parse(training)),
              plugins);
      method.checkSlots(slots);
      method.checkReplicas(mostReplicas);
      return Optional.empty();
    } catch (ProgramException e) {
      // A bad parameter is told of by the check of the program.
      return e.parameter().isPresent()
          ? Optional.empty()
          : Optional.of(String.valueOf(e.getMessage()));
    } catch (IllegalArgumentException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    } catch (RuntimeException | LinkageError e) {
      // Of somebody else's class.
      return Optional.of("training cannot be checked: " + e);
    }
  }
}
