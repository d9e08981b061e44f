package dev.kastor.agent;

import dev.kastor.agent.pace.Pace;
import dev.kastor.agent.ring.RingCipher;
import dev.kastor.agent.trainer.WarmStart;
import dev.kastor.engine.checkpoint.OtherCheckpoints;
import dev.kastor.protocol.Membership;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.training.ServerChoice;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the operator gives a replica in its environment.
 *
 * <p>{@code KASTOR_THREADS} is not among it: the engine's backends read it themselves.
 *
 * @param job {@code KASTOR_NAMESPACE} and {@code KASTOR_JOB}
 * @param jobUid {@code KASTOR_JOB_UID}
 * @param pod {@code KASTOR_POD}
 * @param podIp {@code KASTOR_POD_IP}: where other replicas reach us
 * @param operator {@code KASTOR_OPERATOR_URL}
 * @param protocol {@code KASTOR_PROTOCOL}: version of the agent protocol that we speak, the highest
 *     that the operator and we know
 * @param tokenFile {@code KASTOR_TOKEN_FILE}
 * @param caFile {@code KASTOR_CA_FILE}
 * @param server {@code KASTOR_SERVER_INDEX} where {@code KASTOR_ROLE} is {@code server}: which of
 *     the job's parameter servers this process is; empty for a worker
 * @param ringSecretFile {@code KASTOR_RING_SECRET_FILE}
 * @param ringCipher {@code KASTOR_RING_ENCRYPTION}: of what we send to other replicas
 * @param checkpoints {@code KASTOR_CHECKPOINT_DIR}
 * @param spec {@code KASTOR_JOB_SPEC}
 * @param warmStart {@code KASTOR_WARM_START_…}: where the checkpoints of the job are that the spec
 *     names for a warm start
 * @param terminationLog {@code KASTOR_TERMINATION_LOG}
 * @param terminationGrace {@code KASTOR_TERMINATION_GRACE_SECONDS}: time from being asked to end to
 *     being killed
 * @param exitWithParent {@code KASTOR_EXIT_WITH_PARENT}: end when standard input ends
 * @param pace {@code KASTOR_PACE}: of an accelerator, which passes keep; empty where they take what
 *     they take
 */
public record AgentConfig(
    JobId job,
    String jobUid,
    String pod,
    String podIp,
    URI operator,
    int protocol,
    Path tokenFile,
    Path caFile,
    OptionalInt server,
    Path ringSecretFile,
    RingCipher ringCipher,
    Path checkpoints,
    JobSettings spec,
    WarmStart.Source warmStart,
    Path terminationLog,
    Duration terminationGrace,
    boolean exitWithParent,
    Optional<Pace> pace) {
  private static final Duration DEFAULT_GRACE = Duration.ofSeconds(10);

  /**
   * Reads the environment.
   *
   * @throws ConfigException naming every variable that is missing or wrong
   */
  public static AgentConfig read(Map<String, String> environment) throws ConfigException {
    Reader reader = new Reader(environment);
    String namespace = reader.required("KASTOR_NAMESPACE", Function.identity(), "");
    String name = reader.required("KASTOR_JOB", Function.identity(), "");
    String uid = reader.required("KASTOR_JOB_UID", Function.identity(), "");
    String pod = reader.required("KASTOR_POD", Function.identity(), "");
    String podIp = reader.required("KASTOR_POD_IP", Function.identity(), "");
    URI operator = reader.required("KASTOR_OPERATOR_URL", AgentConfig::https, URI.create(""));
    int protocol =
        Math.min(reader.optional("KASTOR_PROTOCOL", AgentConfig::version, 1), Membership.PROTOCOL);
    Path none = Path.of("");
    Path token = reader.required("KASTOR_TOKEN_FILE", Path::of, none);
    Path ca = reader.required("KASTOR_CA_FILE", Path::of, none);
    OptionalInt server = server(reader);
    Path secret = reader.required("KASTOR_RING_SECRET_FILE", Path::of, none);
    RingCipher cipher =
        reader.optional("KASTOR_RING_ENCRYPTION", RingCipher::of, RingCipher.AES_GCM);
    Path checkpoints = reader.required("KASTOR_CHECKPOINT_DIR", Path::of, none);
    Path termination = reader.required("KASTOR_TERMINATION_LOG", Path::of, none);
    JobSettings spec = reader.required("KASTOR_JOB_SPEC", JobSettings::parse, JobSettings.NONE);
    Duration grace =
        reader.optional("KASTOR_TERMINATION_GRACE_SECONDS", AgentConfig::seconds, DEFAULT_GRACE);
    boolean exit = reader.optional("KASTOR_EXIT_WITH_PARENT", Boolean::parseBoolean, false);
    WarmStart.Source warmStart = warmStart(reader);
    Optional<Pace> pace =
        reader.optional("KASTOR_PACE", text -> Optional.of(Pace.parse(text)), Optional.empty());
    reader.check();
    return new AgentConfig(
        new JobId(namespace, name),
        uid,
        pod,
        podIp,
        operator,
        protocol,
        token,
        ca,
        server,
        secret,
        cipher,
        checkpoints,
        spec,
        warmStart,
        termination,
        grace,
        exit,
        pace);
  }

  private static WarmStart.Source warmStart(Reader reader) {
    Path folder = reader.optional("KASTOR_WARM_START_DIR", Path::of, Path.of(""));
    if (folder.toString().isEmpty()) {
      return new WarmStart.Source.Absent(
          reader.optional(
              "KASTOR_WARM_START_PROBLEM",
              Function.identity(),
              "the operator says nothing of it: it is older than this agent"));
    }
    String uid = reader.optional("KASTOR_WARM_START_UID", Function.identity(), "");
    return new WarmStart.Source.Found(
        new OtherCheckpoints(folder, uid),
        reader.optional("KASTOR_WARM_START_RUNS", Function.identity(), "another program"));
  }

  private static OptionalInt server(Reader reader) {
    boolean is =
        reader.optional(
            "KASTOR_ROLE",
            role ->
                switch (role) {
                  case "server" -> true;
                  case "worker" -> false;
                  default -> throw new IllegalArgumentException("it must be server or worker");
                },
            false);
    return is
        ? OptionalInt.of(reader.required("KASTOR_SERVER_INDEX", AgentConfig::index, 0))
        : OptionalInt.empty();
  }

  private static int version(String text) {
    int version = Integer.parseInt(text.strip());
    if (version < 1) {
      throw new IllegalArgumentException("it must be a whole number above 0");
    }
    return version;
  }

  private static int index(String text) {
    int index = Integer.parseInt(text.strip());
    if (index < 0 || index >= ServerChoice.MOST) {
      throw new IllegalArgumentException("it must be from 0 to " + (ServerChoice.MOST - 1));
    }
    return index;
  }

  private static Duration seconds(String text) {
    long seconds = Long.parseLong(text.strip());
    if (seconds < 1) {
      throw new IllegalArgumentException("it must be a whole number of seconds above 0");
    }
    return Duration.ofSeconds(seconds);
  }

  private static URI https(String text) {
    URI uri = URI.create(text);
    if (!"https".equals(uri.getScheme()) || uri.getHost() == null) {
      throw new IllegalArgumentException("it must be https://host:port");
    }
    return uri;
  }

  /** Collects problems instead of stopping at the first. */
  private static final class Reader {
    private final Map<String, String> environment;
    private final List<String> problems = new ArrayList<>();

    Reader(Map<String, String> environment) {
      this.environment = environment;
    }

    <T> T required(String name, Function<String, T> parse, T placeholder) {
      @Nullable String text = environment.get(name);
      if (text == null || text.isBlank()) {
        problems.add(name + " is not set");
        return placeholder;
      }
      return parse(name, text, parse, placeholder);
    }

    <T> T optional(String name, Function<String, T> parse, T fallback) {
      @Nullable String text = environment.get(name);
      return text == null || text.isBlank() ? fallback : parse(name, text, parse, fallback);
    }

    private <T> T parse(String name, String text, Function<String, T> parse, T placeholder) {
      try {
        return parse.apply(text);
      } catch (IllegalArgumentException e) {
        problems.add("%s is unusable: %s".formatted(name, e.getMessage()));
        return placeholder;
      }
    }

    void check() throws ConfigException {
      if (!problems.isEmpty()) {
        throw new ConfigException(problems);
      }
    }
  }
}
