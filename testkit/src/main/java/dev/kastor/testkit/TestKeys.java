package dev.kastor.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Key that signed itself, for processes that trust nothing else. */
public final class TestKeys {
  private static final String ALIAS = "process";
  private static final String PASSWORD = "for-tests";

  private TestKeys() {}

  /**
   * Makes a key store with the JDK's tool.
   *
   * @param extensions of the certificate, such as {@code san=ip:127.0.0.1}
   */
  public static KeyStore make(Path file, String... extensions)
      throws IOException, GeneralSecurityException {
    String tool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    List<String> command = new ArrayList<>(List.of(tool, "-genkeypair", "-alias", ALIAS));
    command.addAll(List.of("-keyalg", "EC", "-dname", "CN=process", "-validity", "2"));
    command.addAll(List.of("-storetype", "PKCS12", "-keystore", file.toString()));
    command.addAll(List.of("-storepass", PASSWORD));
    for (String extension : extensions) {
      command.addAll(List.of("-ext", extension));
    }
    try {
      if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
        throw new IOException("keytool made no key");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while a key was made", e);
    }
    return load(file);
  }

  private static KeyStore load(Path file) throws IOException, GeneralSecurityException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    return keys;
  }

  /** The certificate of a store. */
  public static Certificate certificate(KeyStore keys) throws GeneralSecurityException {
    return Objects.requireNonNull(keys.getCertificate(ALIAS));
  }

  /** What shows the key of a store to others. */
  public static KeyManager[] shown(KeyStore keys) throws GeneralSecurityException {
    KeyManagerFactory shown =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    shown.init(keys, PASSWORD.toCharArray());
    return shown.getKeyManagers();
  }

  /** Shows the key of a store and trusts it alone. */
  public static SSLContext context(Path file) throws IOException, GeneralSecurityException {
    KeyStore keys = load(file);
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry(ALIAS, certificate(keys));
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLSv1.3");
    context.init(shown(keys), trust.getTrustManagers(), null);
    return context;
  }
}
