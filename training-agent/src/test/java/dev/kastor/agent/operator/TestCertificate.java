package dev.kastor.agent.operator;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * A self-signed certificate for 127.0.0.1, made by the JDK's keytool.
 *
 * @param server what a server needs
 * @param caFile what a client trusts, as PEM
 */
public record TestCertificate(SSLContext server, Path caFile) {
  private static final String PASSWORD = "for-tests";

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
      Process keytool =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                  "-genkeypair",
                  "-alias",
                  "server",
                  "-keyalg",
                  "EC",
                  "-dname",
                  "CN=operator",
                  "-ext",
                  "san=ip:127.0.0.1",
                  "-validity",
                  "2",
                  "-storetype",
                  "PKCS12",
                  "-keystore",
                  store.toString(),
                  "-storepass",
                  PASSWORD)
              .inheritIO()
              .start();
      if (keytool.waitFor() != 0) {
        throw new IllegalStateException("keytool failed");
      }
      KeyStore keys = KeyStore.getInstance("PKCS12");
      try (InputStream in = Files.newInputStream(store)) {
        keys.load(in, PASSWORD.toCharArray());
      }
      KeyManagerFactory managers =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      managers.init(keys, PASSWORD.toCharArray());
      SSLContext server = SSLContext.getInstance("TLS");
      server.init(managers.getKeyManagers(), null, null);
      Path ca = directory.resolve("ca.pem");
      String body =
          Base64.getMimeEncoder().encodeToString(keys.getCertificate("server").getEncoded());
      Files.writeString(
          ca, "-----BEGIN CERTIFICATE-----\n" + body + "\n-----END CERTIFICATE-----\n");
      // Deleted in the reverse order.
      directory.toFile().deleteOnExit();
      ca.toFile().deleteOnExit();
      Files.delete(store);
      return new TestCertificate(server, ca);
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
