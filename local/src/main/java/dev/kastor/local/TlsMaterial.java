package dev.kastor.local;

import dev.kastor.local.kubelet.PrivateFiles;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The certificate of the API server and the operator's agent API and the authority that signs it,
 * made afresh for each run by the JDK's keytool.
 *
 * <p>The authority is valid for longer than any run, as replicas take it in when they start; the
 * certificate is renewed while they run. The authority's key stays in a store whose password only
 * this process knows.
 */
public final class TlsMaterial {
  /** How long a certificate is valid. */
  static final Duration VALIDITY = Duration.ofDays(30);

  /** A clock that is set back by less does not meet a certificate of the future. */
  static final Duration BACKDATED = Duration.ofDays(1);

  private static final int AUTHORITY_DAYS = 3650;
  private static final int PASSWORD_BYTES = 16;

  private final Path folder;
  private final Keytool keytool;
  private @Nullable RenewableKeys keys;

  private TlsMaterial(Path folder, Keytool keytool) {
    this.folder = folder;
    this.keytool = keytool;
  }

  /** Makes both in a folder, which is emptied first. */
  public static TlsMaterial create(Path folder) throws IOException {
    PrivateFiles.delete(folder);
    PrivateFiles.directory(folder);
    byte[] secret = new byte[PASSWORD_BYTES];
    new SecureRandom().nextBytes(secret);
    Keytool keytool = new Keytool(folder, HexFormat.of().formatHex(secret));
    TlsMaterial material = new TlsMaterial(folder, keytool);
    keytool.run(
        keyPair("ca", "CN=Kastor local authority", AUTHORITY_DAYS),
        List.of("-ext", "bc:critical=ca:true", "-ext", "ku:critical=keyCertSign"));
    material.issue();
    return material;
  }

  /** PEM of the server's certificate with its chain. */
  Path certificate() {
    return folder.resolve("tls.crt");
  }

  /** PEM of the certificate's private key. */
  Path key() {
    return folder.resolve("tls.key");
  }

  /** PEM of the authority. */
  public Path authority() {
    return folder.resolve("ca.crt");
  }

  /** TLS settings of a server of this process, which shows renewed certificates as well. */
  public synchronized SSLContext context() throws IOException {
    try {
      return Objects.requireNonNull(keys).context();
    } catch (GeneralSecurityException e) {
      throw new IOException("this Java has no TLS 1.3", e);
    }
  }

  /** Replaces key and certificate by new ones of the same authority. */
  synchronized void renew() throws IOException {
    keytool.run(List.of("-delete", "-alias", "server"), List.of());
    issue();
  }

  private void issue() throws IOException {
    keytool.run(
        keyPair("server", "CN=localhost", VALIDITY.toDays()),
        List.of(
            "-signer", "ca", "-ext", "san=dns:localhost,ip:127.0.0.1", "-ext", "eku=serverAuth"));
    try (InputStream in = Files.newInputStream(keytool.store())) {
      char[] password = keytool.password().toCharArray();
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(in, password);
      StringBuilder chain = new StringBuilder();
      for (Certificate certificate : store.getCertificateChain("server")) {
        chain.append(pem("CERTIFICATE", certificate.getEncoded()));
      }
      write(authority(), pem("CERTIFICATE", store.getCertificate("ca").getEncoded()));
      write(key(), pem("PRIVATE KEY", store.getKey("server", password).getEncoded()));
      write(certificate(), chain.toString());
      RenewableKeys before = keys;
      if (before == null) {
        keys = new RenewableKeys(own(store, password), password);
      } else {
        before.renew(own(store, password), password);
      }
    } catch (GeneralSecurityException e) {
      throw new IOException("keytool made a key store that cannot be read", e);
    }
  }

  /** A store with the server's key alone: the authority's is for signing. */
  private static KeyStore own(KeyStore store, char[] password)
      throws GeneralSecurityException, IOException {
    KeyStore own = KeyStore.getInstance("PKCS12");
    own.load(null, password);
    own.setKeyEntry(
        "server", store.getKey("server", password), password, store.getCertificateChain("server"));
    return own;
  }

  private static List<String> keyPair(String alias, String subject, long days) {
    return List.of(
        "-genkeypair",
        "-alias",
        alias,
        "-keyalg",
        "EC",
        "-groupname",
        "secp256r1",
        "-dname",
        subject,
        "-startdate",
        "-" + BACKDATED.toDays() + "d",
        "-validity",
        Long.toString(days));
  }

  private static void write(Path file, String pem) throws IOException {
    PrivateFiles.write(file, pem.getBytes(StandardCharsets.US_ASCII));
  }

  private static String pem(String kind, byte[] der) {
    String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(kind, body, kind);
  }

  /** Runs of the JDK's keytool on one store; the password travels in the environment. */
  private record Keytool(Path folder, String password) {
    Path store() {
      return folder.resolve("store.p12");
    }

    void run(List<String> what, List<String> how) throws IOException {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
      command.add("-J-XX:TieredStopAtLevel=1");
      command.add("-J-XX:+UseSerialGC");
      command.addAll(what);
      command.addAll(how);
      command.addAll(List.of("-keystore", store().toString(), "-storetype", "PKCS12"));
      command.addAll(List.of("-storepass:env", "KASTOR_STORE_PASSWORD"));
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
      builder.environment().put("KASTOR_STORE_PASSWORD", password);
      Process process = builder.start();
      process.getOutputStream().close();
      ByteArrayOutputStream said = new ByteArrayOutputStream();
      process.getInputStream().transferTo(said);
      try {
        if (process.waitFor() != 0) {
          throw new IOException("keytool failed: " + said.toString(StandardCharsets.UTF_8).strip());
        }
      } catch (InterruptedException e) {
        process.destroyForcibly();
        Thread.currentThread().interrupt();
        throw new IOException("interrupted while making certificates", e);
      }
    }
  }
}
