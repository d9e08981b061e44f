package dev.kastor.agent.operator;

import dev.kastor.testkit.TestKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.SSLContext;

/**
 * A self-signed certificate for 127.0.0.1, made by the JDK's keytool.
 *
 * @param server what a server needs
 * @param caFile what a client trusts, as PEM
 */
public record TestCertificate(SSLContext server, Path caFile) {
  /** The one that all tests of this process use. */
  public static TestCertificate shared() {
    return Shared.INSTANCE;
  }

  private static final class Shared {
    private static final TestCertificate INSTANCE = fresh();
  }

  /** One of its own. */
  static TestCertificate fresh() {
    try {
      Path directory = Files.createTempDirectory("kastor-test");
      Path store = directory.resolve("server.p12");
      KeyStore keys = TestKeys.make(store, "san=ip:127.0.0.1");
      SSLContext server = SSLContext.getInstance("TLS");
      server.init(TestKeys.shown(keys), null, null);
      Path ca = directory.resolve("ca.pem");
      String body = Base64.getMimeEncoder().encodeToString(TestKeys.certificate(keys).getEncoded());
      Files.writeString(
          ca, "-----BEGIN CERTIFICATE-----\n" + body + "\n-----END CERTIFICATE-----\n");
      // Deleted in the reverse order.
      directory.toFile().deleteOnExit();
      ca.toFile().deleteOnExit();
      Files.delete(store);
      return new TestCertificate(server, ca);
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
