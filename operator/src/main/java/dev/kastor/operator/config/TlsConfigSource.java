package dev.kastor.operator.config;

import io.smallrye.config.ConfigSourceContext;
import io.smallrye.config.ConfigSourceFactory;
import io.smallrye.config.ConfigValue;
import io.smallrye.config.PropertiesConfigSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.eclipse.microprofile.config.spi.ConfigSource;

/**
 * Hands {@code kastor.tls.certificate} and {@code kastor.tls.key} to the HTTPS server, so that it
 * has a certificate exactly when both are set; without them there is no HTTPS port.
 */
public final class TlsConfigSource implements ConfigSourceFactory {
  private static final int BELOW_ENVIRONMENT = 275;

  @Override
  public Iterable<ConfigSource> getConfigSources(ConfigSourceContext context) {
    ConfigValue certificate = context.getValue("kastor.tls.certificate");
    ConfigValue key = context.getValue("kastor.tls.key");
    if (!present(certificate) || !present(key)) {
      return List.of();
    }
    Map<String, String> properties = new HashMap<>();
    properties.put("quarkus.tls.key-store.pem.0.cert", certificate.getValue());
    properties.put("quarkus.tls.key-store.pem.0.key", key.getValue());
    return List.of(new PropertiesConfigSource(properties, "kastor-tls", BELOW_ENVIRONMENT));
  }

  @Override
  public OptionalInt getPriority() {
    return OptionalInt.of(BELOW_ENVIRONMENT);
  }

  @SuppressWarnings("NullAway") // A factory's context answers null for what is not set.
  private static boolean present(ConfigValue value) {
    return value != null && value.getValue() != null && !value.getValue().isBlank();
  }
}
