package dev.kastor.local;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;

/**
 * Test of a process that tells one that hangs from one that is slow.
 *
 * <p>A process that is silent is left alone while it works and the machine may just be slow. It
 * hangs where one of these holds:
 *
 * <ul>
 *   <li>it has answered before, is silent for {@link #SILENCE}, and for as long its log and its CPU
 *       time did not grow, or its port refused each connection, which the system does at once
 *       however slow the process is;
 *   <li>it has answered before and is silent for {@link #BUSY_SILENCE}, though the machine gave it
 *       {@link #BUSY_CPU} since its last answer;
 *   <li>it has never answered, and for {@link #IDLE_START} neither its log nor its CPU time grew.
 * </ul>
 *
 * @param question asks the process
 * @param period time between two questions
 */
record Liveness(Question question, Duration period) {
  static final Duration SILENCE = Duration.ofSeconds(60);
  static final Duration BUSY_SILENCE = Duration.ofMinutes(5);
  static final Duration BUSY_CPU = Duration.ofSeconds(10);
  static final Duration IDLE_START = Duration.ofMinutes(5);

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /** Test by an address that answers 200. */
  static Liveness of(URI address, Duration period) {
    HttpRequest request = HttpRequest.newBuilder(address).timeout(PATIENCE).GET().build();
    return new Liveness(
        () -> {
          try (HttpClient http =
              HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            int status = http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
            return status == 200 ? Answer.GIVEN : Answer.NONE;
          } catch (ConnectException e) {
            return Answer.REFUSED;
          } catch (IOException e) {
            return Answer.NONE;
          }
        },
        period);
  }

  /** Begins to watch a process that was just started. */
  Watch watch(long nowNanos) {
    return new Watch(nowNanos);
  }

  /** What came of a question. */
  enum Answer {
    GIVEN,
    NONE,
    /** Nothing listens. */
    REFUSED
  }

  /** A question that a process answers while it lives. */
  @FunctionalInterface
  interface Question {
    Answer ask() throws InterruptedException;
  }

  /** Record of one process and its answers. */
  static final class Watch {
    private final Idleness idleness;
    private boolean answered;
    private Duration steady = Duration.ZERO;
    private Duration silent = Duration.ZERO;
    private Duration cpuAtAnswer = Duration.ZERO;
    private boolean refused = true;

    private Watch(long nowNanos) {
      idleness = new Idleness(nowNanos);
    }

    /** Takes an answer; why the process hangs, if it does. */
    Optional<String> hangs(Answer answer, Activity activity, long nowNanos) {
      Duration counted = idleness.look(activity, nowNanos);
      if (answer == Answer.GIVEN) {
        steady = answered ? steady.plus(counted) : steady;
        answered = true;
        silent = Duration.ZERO;
        refused = true;
        cpuAtAnswer = activity.cpu();
        return Optional.empty();
      }
      silent = silent.plus(counted);
      refused &= answer == Answer.REFUSED;
      return answered ? afterAnAnswer(activity) : beforeAnyAnswer();
    }

    private Optional<String> beforeAnyAnswer() {
      return idleness.lasts(IDLE_START)
          ? Optional.of("it neither used CPU time nor logged for " + seconds(idleness.idle()))
          : Optional.empty();
    }

    private Optional<String> afterAnAnswer(Activity activity) {
      Duration cpu = activity.cpu().minus(cpuAtAnswer);
      String why = "no answer for " + seconds(silent);
      if (silent.compareTo(SILENCE) >= 0) {
        if (refused) {
          return Optional.of(why + ", nothing listens at its port");
        }
        if (idleness.lasts(SILENCE)) {
          return Optional.of(why + ", and it neither used CPU time nor logged");
        }
      }
      return silent.compareTo(BUSY_SILENCE) >= 0 && cpu.compareTo(BUSY_CPU) >= 0
          ? Optional.of("%s, though it used %s of CPU time".formatted(why, seconds(cpu)))
          : Optional.empty();
    }

    /** For how long the process has answered. */
    Duration steady() {
      return steady;
    }

    private static String seconds(Duration duration) {
      return duration.toSeconds() + " s";
    }
  }
}
