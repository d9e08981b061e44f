package dev.kastor.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
@Tag("never-retried")
final class TlsRenewalTest {
  @TempDir Path folder;

  private static X509Certificate read(Path pem) throws Exception {
    try (InputStream in = Files.newInputStream(pem)) {
      return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
    }
  }

  @Test
  void theCertificateIsRenewedWithinAMonthAndByTheSameAuthority() throws Exception {
    TlsMaterial tls = TlsMaterial.create(folder.resolve("tls"));
    X509Certificate authority = read(tls.authority());
    X509Certificate first = read(tls.certificate());
    Instant start = Instant.now();
    AtomicReference<Instant> now = new AtomicReference<>(start);
    TlsRenewal renewal = new TlsRenewal(tls, now::get);
    now.set(start.plus(Duration.ofDays(9)));
    renewal.step();
    assertThat(read(tls.certificate())).isEqualTo(first);
    // A machine that slept over the certificate's end.
    now.set(start.plus(Duration.ofDays(40)));
    renewal.step();
    X509Certificate second = read(tls.certificate());
    assertThat(second.getSerialNumber()).isNotEqualTo(first.getSerialNumber());
    second.verify(authority.getPublicKey());
    assertThat(read(tls.authority())).isEqualTo(authority);
    // A clock that is set back meets no certificate of the future.
    now.set(start);
    renewal.step();
    assertThat(read(tls.certificate()).getSerialNumber()).isNotEqualTo(second.getSerialNumber());
  }

  @Test
  void theAuthorityOutlivesAnyRunAndBothStandAClockThatIsSetBack() throws Exception {
    TlsMaterial tls = TlsMaterial.create(folder.resolve("tls"));
    read(tls.authority()).checkValidity(Date.from(Instant.now().plus(Duration.ofDays(3000))));
    for (Path pem : new Path[] {tls.authority(), tls.certificate()}) {
      read(pem).checkValidity(Date.from(Instant.now().minus(Duration.ofHours(20))));
    }
  }
}
