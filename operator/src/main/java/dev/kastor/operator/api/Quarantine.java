package dev.kastor.operator.api;

import dev.kastor.operator.config.OperatorConfig;
import dev.kastor.operator.metrics.Metrics;
import dev.kastor.scheduler.model.JobId;
import dev.kastor.text.PrintableText;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cuts back jobs whose replicas send reports that cannot be taken in.
 *
 * <p>A job with more bad reports in a minute than {@code kastor.agent.bad-reports-per-minute} is
 * not listened to for the rest of that minute and the next one: its reports are refused unread. It
 * trains on, since polls are still answered, and no other job notices. Thread-safe.
 */
@Singleton
public final class Quarantine {
  private static final Logger LOG = LoggerFactory.getLogger(Quarantine.class);
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final int LONGEST_REASON = 200;

  private static final class Offences {
    private final Instant since;
    private int bad;
    private Instant until = Instant.MIN;

    private Offences(Instant since) {
      this.since = since;
    }

    private boolean over(Instant now) {
      return !now.isBefore(since.plus(MINUTE)) && !now.isBefore(until);
    }
  }

  private final Metrics metrics;
  private final InstantSource clock;
  private final int most;
  private final Map<JobId, Offences> records = new HashMap<>();

  public Quarantine(Metrics metrics, OperatorConfig config, InstantSource clock) {
    this.metrics = metrics;
    this.clock = clock;
    most = config.agent().badReportsPerMinute();
  }

  /** Refuses a report of a job that is cut back. */
  synchronized void admit(JobId job) throws ApiException {
    Offences record = records.get(job);
    if (record != null && clock.instant().isBefore(record.until)) {
      throw ApiException.tooMany(
          "quarantine", "job %s sent too many bad reports; try again in a minute".formatted(job));
    }
  }

  /** Counts a bad report. */
  synchronized void bad(JobId job, String why) {
    if (most <= 0) {
      return;
    }
    Instant now = clock.instant();
    Offences record = records.get(job);
    if (record == null || record.over(now)) {
      records.values().removeIf(old -> old.over(now));
      record = new Offences(now);
      records.put(job, record);
    }
    record.bad++;
    if (record.bad > most && !now.isBefore(record.until)) {
      record.until = record.since.plus(MINUTE.multipliedBy(2));
      metrics.quarantined();
      // At most once a minute for each job: until then its reports are not read.
      LOG.warn(
          "{}: {} bad reports within a minute; its reports are refused until {}. The last: {}",
          job,
          record.bad,
          record.until,
          printable(why));
    }
  }

  private static String printable(String text) {
    String line = PrintableText.line(text);
    return line.length() <= LONGEST_REASON ? line : line.substring(0, LONGEST_REASON) + "…";
  }
}
