package dev.kastor.agent.operator;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class AuthorityFileTest {
  private final Path first = TestCertificate.shared().caFile();
  private final Path second = TestCertificate.fresh().caFile();

  @TempDir Path folder;

  @Test
  void trustsWhatTheFileHoldsNow() throws Exception {
    Path file = Files.copy(first, folder.resolve("ca.crt"));
    AuthorityFile authority = new AuthorityFile(file);
    assertTrusted(authority, first);
    assertRefused(authority, second);

    Files.writeString(file, Files.readString(second) + Files.readString(first));
    assertTrusted(authority, first);
    assertTrusted(authority, second);

    Files.writeString(file, Files.readString(second));
    assertRefused(authority, first);
    assertTrusted(authority, second);
  }

  @Test
  void keepsWhatItTrustsWhenTheFileIsOfNoUse() throws Exception {
    Path file = Files.copy(first, folder.resolve("ca.crt"));
    AuthorityFile authority = new AuthorityFile(file);
    Files.writeString(file, "");
    assertTrusted(authority, first);
    assertRefused(authority, second);
    Files.delete(file);
    assertTrusted(authority, first);
  }

  @Test
  void doesNotStartWithoutAnAuthority() throws IOException {
    Path file = Files.writeString(folder.resolve("ca.crt"), "");
    assertThatThrownBy(() -> new AuthorityFile(file)).hasMessageContaining("no certificate");
  }

  private static void assertTrusted(AuthorityFile authority, Path certificate) throws Exception {
    X509Certificate[] chain = chain(certificate);
    assertThatCode(() -> authority.checkServerTrusted(chain, "ECDHE_ECDSA"))
        .doesNotThrowAnyException();
  }

  private static void assertRefused(AuthorityFile authority, Path certificate) throws Exception {
    X509Certificate[] chain = chain(certificate);
    assertThatThrownBy(() -> authority.checkServerTrusted(chain, "ECDHE_ECDSA"))
        .isInstanceOf(CertificateException.class);
  }

  private static X509Certificate[] chain(Path certificate) throws Exception {
    try (InputStream in = Files.newInputStream(certificate)) {
      return new X509Certificate[] {
        (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in)
      };
    }
  }
}
