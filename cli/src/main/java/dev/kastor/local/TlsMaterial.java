package dev.kastor.local;

import dev.kastor.local.kubelet.PrivateFiles;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;

/**
 * The certificate of the operator's agent API and the authority that signed it, made afresh for
 * each run by the JDK's keytool.
 *
 * @param certificate PEM of the server's certificate with its chain
 * @param key PEM of its private key
 * @param authority PEM of the authority
 */
record TlsMaterial(Path certificate, Path key, Path authority) {
  private static final int DAYS = 30;
  private static final int PASSWORD_BYTES = 16;

  static TlsMaterial create(Path folder) throws IOException {
    PrivateFiles.delete(folder);
    PrivateFiles.directory(folder);
    byte[] secret = new byte[PASSWORD_BYTES];
    new SecureRandom().nextBytes(secret);
    String password = HexFormat.of().formatHex(secret);
    Keytool keytool = new Keytool(folder, password);
    keytool.run(
        List.of(
            "-genkeypair",
            "-alias",
            "ca",
            "-keyalg",
            "EC",
            "-groupname",
            "secp256r1",
            "-dname",
            "CN=Kastor local authority",
            "-validity",
            Integer.toString(DAYS),
            "-ext",
            "bc:critical=ca:true",
            "-ext",
            "ku:critical=keyCertSign"));
    keytool.run(
        List.of(
            "-genkeypair",
            "-alias",
            "server",
            "-keyalg",
            "EC",
            "-groupname",
            "secp256r1",
            "-dname",
            "CN=localhost",
            "-validity",
            Integer.toString(DAYS),
            "-signer",
            "ca",
            "-ext",
            "san=dns:localhost,ip:127.0.0.1",
            "-ext",
            "eku=serverAuth"));
    try (InputStream in = Files.newInputStream(keytool.store())) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(in, password.toCharArray());
      TlsMaterial material =
          new TlsMaterial(
              folder.resolve("tls.crt"), folder.resolve("tls.key"), folder.resolve("ca.crt"));
      StringBuilder chain = new StringBuilder();
      for (Certificate certificate : store.getCertificateChain("server")) {
        chain.append(pem("CERTIFICATE", certificate.getEncoded()));
      }
      Key key = store.getKey("server", password.toCharArray());
      write(material.certificate(), chain.toString());
      write(material.key(), pem("PRIVATE KEY", key.getEncoded()));
      write(material.authority(), pem("CERTIFICATE", store.getCertificate("ca").getEncoded()));
      return material;
    } catch (GeneralSecurityException e) {
      throw new IOException("keytool made a key store that cannot be read", e);
    } finally {
      Files.deleteIfExists(keytool.store());
    }
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

    void run(List<String> arguments) throws IOException {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
      command.add("-J-XX:TieredStopAtLevel=1");
      command.add("-J-XX:+UseSerialGC");
      command.addAll(arguments);
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
