package dev.kastor.agent;

import dev.kastor.agent.membership.LocalReplica;
import dev.kastor.agent.membership.MembershipClient;
import dev.kastor.agent.operator.OperatorConnection;
import dev.kastor.agent.pace.PacedModel;
import dev.kastor.agent.ring.RingKey;
import dev.kastor.agent.ring.RingLimits;
import dev.kastor.agent.ring.RingListener;
import dev.kastor.agent.telemetry.TelemetryClient;
import dev.kastor.agent.trainer.ElasticTrainer;
import dev.kastor.agent.trainer.ServerTrainer;
import dev.kastor.agent.trainer.ServerWorker;
import dev.kastor.agent.trainer.Surroundings;
import dev.kastor.agent.trainer.Training;
import dev.kastor.agent.trainer.TrainingSettings;
import dev.kastor.agent.trainer.WarmStart;
import dev.kastor.engine.checkpoint.CheckpointStore;
import dev.kastor.engine.exec.MemoryCapException;
import dev.kastor.engine.program.Programs;
import dev.kastor.engine.program.SumsParameter;
import dev.kastor.engine.program.TrainingMethod;
import dev.kastor.engine.train.Optimizer;
import dev.kastor.engine.train.Program;
import dev.kastor.engine.train.ProgramException;
import dev.kastor.engine.train.Trainable;
import dev.kastor.protocol.Outcome;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One replica from its start to its end: loads the program, warms up and trains. */
final class ReplicaProcess implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ReplicaProcess.class);
  private static final Duration REPORT_INTERVAL = Duration.ofSeconds(1);

  /** As long as the policy kastor leaves an allocation: no decision waits for it. */
  private static final Duration COLD = Duration.ofSeconds(10);

  private final AgentConfig config;
  private final RingListener listener;
  private final OperatorConnection operator;
  private final MembershipClient memberships;
  private final TelemetryClient telemetry;
  private volatile @Nullable Training trainer;

  ReplicaProcess(AgentConfig config) throws IOException {
    this.config = config;
    RingKey key =
        new RingKey(
            config.job().toString(),
            Files.readAllBytes(config.ringSecretFile()),
            config.ringCipher());
    InetAddress ip = InetAddress.getByName(config.podIp());
    InetAddress bind = ip.isLoopbackAddress() ? ip : new InetSocketAddress(0).getAddress();
    listener = RingListener.open(key, RingLimits.DEFAULT, bind);
    operator =
        new OperatorConnection(
            config.operator(), config.job(), config.tokenFile(), config.caFile());
    LocalReplica self = new LocalReplica(config.pod(), config.podIp() + ":" + listener.port());
    memberships = MembershipClient.start(operator, config.job(), self);
    telemetry =
        TelemetryClient.start(
            operator, config.protocol(), config.job(), config.pod(), REPORT_INTERVAL);
  }

  Outcome run() throws IOException, InterruptedException, PermanentException {
    JobSettings spec = config.spec();
    try {
      Program program = Programs.get(spec.program());
      Map<String, String> parameters = new HashMap<>(program.defaultParameters());
      parameters.putAll(spec.parameters());
      TrainingMethod method = TrainingMethod.of(SumsParameter.take(parameters, spec.training()));
      if (config.server().isPresent()) {
        if (method.servers().isEmpty()) {
          throw new PermanentException(
              "this process is to be a parameter server (KASTOR_ROLE) of a job whose training.sync has none");
        }
        onHost(parameters);
      }
      Optimizer optimizer = program.optimizer(parameters);
      method.checkSlots(spec.slots());
      try (Trainable model = paced(program.load(parameters, method.passSettings(spec.slots())))) {
        if (spec.initialBatch() > model.trainingExamples()) {
          throw new PermanentException(
              "goodput.batchSize.initial (%d) is above the %d training examples that there are. Lower it."
                  .formatted(spec.initialBatch(), model.trainingExamples()));
        }
        if (model.layout().elements() != model.parameters().length) {
          throw new PermanentException(
              "the model of program %s has %d parameters and its layout %d. Mend its layout()."
                  .formatted(spec.program(), model.parameters().length, model.layout().elements()));
        }
        method.checkModel(model);
        TrainingSettings settings = spec.settings(seed(parameters), method);
        return train(model, optimizer, settings);
      }
    } catch (ProgramException e) {
      throw new PermanentException(String.valueOf(e.getMessage()), e);
    } catch (MemoryCapException e) {
      // The same pass would not fit after a restart either.
      throw new PermanentException(
          "training.devices: %s Raise memoryMiB, lower goodput.batchSize.perDevice.max, or split the model over more slots."
              .formatted(e.getMessage()),
          e);
    }
  }

  private Trainable paced(Trainable model) {
    return config.pace().isPresent() ? new PacedModel(model, config.pace().get()) : model;
  }

  private Outcome train(Trainable model, Optimizer optimizer, TrainingSettings settings)
      throws IOException, InterruptedException, ProgramException {
    JobSettings spec = config.spec();
    CheckpointStore store =
        new CheckpointStore(
            config.checkpoints(), config.jobUid(), spec.keepLast(), InstantSource.system());
    Surroundings around =
        new Surroundings(
            config.job().toString(),
            config.pod(),
            listener,
            RingLimits.DEFAULT,
            memberships,
            telemetry,
            store,
            COLD,
            spec.warmStart()
                .map(other ->
                    new WarmStart(other.job(), other.step(), config.warmStart(), spec.program())));
    try (Training training = training(around, settings, model, optimizer)) {
      config.ringCipher().warmUp();
      training.warmUp(spec.firstAtomicBatch());
      log.info(
          "{}: {} is ready with {}: {} parameters, {} examples",
          config.job(),
          config.pod(),
          spec.program(),
          model.layout().elements(),
          model.trainingExamples());
      trainer = training;
      return training.run();
    }
  }

  private Training training(
      Surroundings around, TrainingSettings settings, Trainable model, Optimizer optimizer)
      throws ProgramException {
    if (config.server().isPresent()) {
      return new ServerTrainer(around, settings, model, optimizer, config.server().getAsInt());
    }
    return settings.method().servers().isPresent()
        ? new ServerWorker(around, settings, model, optimizer)
        : new ElasticTrainer(around, settings, model, optimizer);
  }

  /** A server computes no pass and has no GPU: its model is on the host. */
  private static void onHost(Map<String, String> parameters) {
    if ("cuda".equals(parameters.get("backend"))) {
      parameters.put("backend", "cpu");
      parameters.computeIfPresent("precision", (_, _) -> "fp32");
    }
  }

  /** The order of examples follows the program's seed, so a job repeats itself. */
  private static long seed(Map<String, String> parameters) {
    try {
      return Long.parseLong(parameters.getOrDefault("seed", "0").strip());
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /** Asks for a checkpoint after the step in progress and for news; from any thread. */
  void prepareToEnd() {
    memberships.askNow();
    Training running = trainer;
    if (running != null) {
      running.saveSoon();
    }
  }

  /** Whether the operator said last that there is no such job. */
  boolean jobGone() {
    return memberships.jobGone();
  }

  @Override
  public void close() throws IOException {
    telemetry.close();
    memberships.close();
    operator.close();
    listener.close();
  }
}
