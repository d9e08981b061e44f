package dev.kastor.operator;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;

/** A fresh self-signed certificate for 127.0.0.1, as PEM files. */
public record TestCertificate(Path certificate, Path key) {
  private static final String PASSWORD = "changeit";

  /** Makes one in a folder, in the place of one that was made there before. */
  public static TestCertificate make(Path folder) throws IOException {
    Path store = folder.resolve("store.p12");
    Files.deleteIfExists(store);
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD,
                "-alias",
                "test",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=dns:localhost,ip:127.0.0.1",
                "-validity",
                "2")
            .inheritIO()
            .start();
    try {
      if (keytool.waitFor() != 0) {
        throw new IOException("keytool failed");
      }
      KeyStore keys = KeyStore.getInstance("PKCS12");
      try (InputStream in = Files.newInputStream(store)) {
        keys.load(in, PASSWORD.toCharArray());
      }
      Path certificate = folder.resolve("tls.crt");
      Path key = folder.resolve("tls.key");
      Files.writeString(certificate, pem("CERTIFICATE", keys.getCertificate("test").getEncoded()));
      Files.writeString(
          key, pem("PRIVATE KEY", keys.getKey("test", PASSWORD.toCharArray()).getEncoded()));
      return new TestCertificate(certificate, key);
    } catch (GeneralSecurityException e) {
      throw new IOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  private static String pem(String type, byte[] der) {
    String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    return "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n".formatted(type, body);
  }
}
