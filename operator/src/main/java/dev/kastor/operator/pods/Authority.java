package dev.kastor.operator.pods;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.kastor.operator.config.OperatorConfig;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whom replicas trust: the certificates that signed the agent API's, as the file has them now.
 *
 * <p>When they change, replicas go on trusting the one before: the operator still shows a
 * certificate of it for a while, and not all replicas learn of the change at once. Thread-safe.
 */
@Singleton
public final class Authority {
  private static final Logger LOG = LoggerFactory.getLogger(Authority.class);
  private static final Pattern CERTIFICATE =
      Pattern.compile("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", Pattern.DOTALL);

  private final Optional<Path> file;
  private volatile Optional<String> known;

  public Authority(OperatorConfig config) {
    file = config.caFile();
    known = file.map(Authority::text);
  }

  /** The certificates in PEM as of the last look; empty if none are configured. */
  Optional<String> certificates() {
    return known;
  }

  /** Looks whether the file has changed. */
  public void refresh() {
    if (file.isEmpty()) {
      return;
    }
    try {
      String now = text(file.get());
      if (!now.equals(known.orElse("")) && !certificates(now).isEmpty()) {
        LOG.info("the authority in {} is another now; jobs learn of it", file.get());
        known = Optional.of(now);
      }
    } catch (UncheckedIOException e) {
      // A volume that is being replaced; the next look finds it whole.
      LOG.debug("the authority cannot be read just now", e);
    }
  }

  /** What replicas are to trust that trusted {@code before}. */
  static String succeeding(String now, String before) {
    List<String> current = certificates(now);
    Optional<String> former =
        certificates(before).stream().filter(each -> !current.contains(each)).findFirst();
    if (former.isEmpty() || before.startsWith(now)) {
      return before.startsWith(now) && !current.isEmpty() ? before : now;
    }
    return now.strip() + "\n" + former.get() + "\n";
  }

  private static List<String> certificates(String pem) {
    return CERTIFICATE.matcher(pem).results().map(MatchResult::group).toList();
  }

  private static String text(Path file) {
    try {
      return Files.readString(file, US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException("kastor.ca-file cannot be read", e);
    }
  }
}
