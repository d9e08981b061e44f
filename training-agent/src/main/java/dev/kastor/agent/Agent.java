package dev.kastor.agent;

import dev.kastor.agent.telemetry.TerminationLog;
import dev.kastor.protocol.Outcome;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The main class of a training pod.
 *
 * <p>Exit status: 0 when it completed, stopped or left as told, 64 when it failed and would fail
 * again, anything else when it failed and another try may work. The outcome is the termination
 * message.
 */
public final class Agent {
  private static final int EXIT_PERMANENT = 64;
  private static final int EXIT_FAILED = 1;
  private static final int EXIT_TERMINATED = 143;
  private static final int MAX_MESSAGE_CHARS = 2048;
  private static final long CHECK_MILLIS = 50;

  /** What is left of the grace period between asking and killing when we give up. */
  private static final Duration TERMINATION_RESERVE = Duration.ofSeconds(2);

  private Agent() {}

  /**
   * Runs one replica with the environment as its configuration, or with what {@link Spare} reads.
   */
  public static void main(String[] args) {
    configureLogging();
    AtomicBoolean terminating = new AtomicBoolean();
    Map<String, String> environment = System.getenv();
    if (Spare.wanted(environment)) {
      Optional<Map<String, String>> given = given(environment);
      if (given.isEmpty()) {
        return;
      }
      environment = given.get();
    }
    AgentConfig config;
    try {
      config = AgentConfig.read(environment);
    } catch (ConfigException e) {
      System.err.println("The agent cannot start: " + e.getMessage());
      System.exit(EXIT_PERMANENT);
      return;
    }
    if (config.exitWithParent()) {
      ParentWatch watch = ParentWatch.ofThisProcess(terminating::get);
      Thread.ofPlatform().name("parent").daemon().start(() -> haltWhenUnattended(watch));
    }
    System.exit(run(config, terminating));
  }

  /** Variables of the pod that this process becomes; empty if it becomes none. */
  private static Optional<Map<String, String>> given(Map<String, String> own) {
    try {
      return new Spare(System.in).await(own);
    } catch (IOException e) {
      System.err.println(
          "The agent waited for a pod and cannot read its variables: " + e.getMessage());
      System.exit(EXIT_FAILED);
      return Optional.empty();
    }
  }

  private static int run(AgentConfig config, AtomicBoolean terminating) {
    Logger log = LoggerFactory.getLogger(Agent.class);
    CountDownLatch ended = new CountDownLatch(1);
    int[] status = {EXIT_TERMINATED};
    Outcome outcome;
    try (ReplicaProcess replica = new ReplicaProcess(config)) {
      Runtime.getRuntime()
          .addShutdownHook(
              Thread.ofPlatform()
                  .name("terminate")
                  .unstarted(() -> {
                    terminating.set(true);
                    endSoon(replica, config.terminationGrace(), ended, status);
                  }));
      outcome = replica.run();
    } catch (PermanentException e) {
      log.error("{}: {}", config.job(), e.getMessage());
      outcome = failed(Outcome.Kind.FAILED_PERMANENTLY, String.valueOf(e.getMessage()));
    } catch (IOException | RuntimeException e) {
      log.error("{}: failed", config.job(), e);
      outcome = failed(Outcome.Kind.FAILED, trace(e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      outcome = failed(Outcome.Kind.FAILED, "interrupted");
    }
    log.info("{}: {}: {}", config.job(), outcome.kind(), outcome.message());
    try {
      new TerminationLog(config.terminationLog()).write(outcome);
    } catch (IOException e) {
      log.error("{}: cannot write the termination message: {}", config.job(), e.toString());
    }
    status[0] =
        switch (outcome.kind()) {
          case COMPLETED, STOPPED, LEFT -> 0;
          case FAILED_PERMANENTLY -> EXIT_PERMANENT;
          case FAILED -> EXIT_FAILED;
        };
    ended.countDown();
    return status[0];
  }

  /**
   * Asked to end, we train on until the operator has taken us out of the ring, so that the others
   * lose nothing; a checkpoint is saved meanwhile in case there are no others.
   */
  private static void endSoon(
      ReplicaProcess replica, Duration grace, CountDownLatch ended, int[] status) {
    replica.prepareToEnd();
    try {
      long end = System.nanoTime() + grace.minus(TERMINATION_RESERVE).toNanos();
      while (System.nanoTime() - end < 0 && !replica.jobGone()) {
        if (ended.await(CHECK_MILLIS, TimeUnit.MILLISECONDS)) {
          Runtime.getRuntime().halt(status[0]);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Outcome failed(Outcome.Kind kind, String message) {
    return new Outcome(
        kind,
        null,
        null,
        null,
        0,
        message.substring(0, Math.min(message.length(), MAX_MESSAGE_CHARS)));
  }

  private static String trace(Exception e) {
    StringWriter text = new StringWriter();
    e.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  /** Ends the process when nobody looks after it. */
  private static void haltWhenUnattended(ParentWatch watch) {
    try {
      if (watch.endsUnattended()) {
        Runtime.getRuntime().halt(EXIT_TERMINATED);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Before the first logger exists. */
  private static void configureLogging() {
    setDefault("org.slf4j.simpleLogger.showDateTime", "true");
    setDefault("org.slf4j.simpleLogger.dateTimeFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX");
    setDefault("org.slf4j.simpleLogger.showThreadName", "false");
    setDefault("org.slf4j.simpleLogger.showShortLogName", "true");
    setDefault("org.slf4j.simpleLogger.levelInBrackets", "true");
  }

  private static void setDefault(String property, String value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, value);
    }
  }
}
