package dev.kastor.operator.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Socket;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

// An engine and issuers are not needed here.
@NullUnmarked
class ReplaceableKeysTest {
  private final Pair first = new Pair();
  private final Pair second = new Pair();
  private final ReplaceableKeys keys = new ReplaceableKeys(first);

  ReplaceableKeysTest() throws NoSuchAlgorithmException {}

  @Test
  void aHandshakeEndsWithThePairThatItBeganWith() {
    String begun = alias();
    keys.replace(second);
    assertThat(keys.getPrivateKey(begun)).isSameAs(first.key);
    assertThat(keys.getCertificateChain(begun)).isSameAs(first.chain);
  }

  @Test
  void aHandshakeBeginsWithTheNewestPair() {
    keys.replace(second);
    assertThat(keys.getPrivateKey(alias())).isSameAs(second.key);
    assertThat(keys.getCertificateChain(alias())).isSameAs(second.chain);
  }

  @Test
  void aPairThatWasReplacedTwiceIsForgotten() {
    String begun = alias();
    keys.replace(second);
    keys.replace(first);
    assertThat(keys.getPrivateKey(begun)).isNull();
    assertThat(keys.getCertificateChain(begun)).isNull();
  }

  private String alias() {
    return keys.chooseEngineServerAlias("EC", null, null);
  }

  /** A key and a certificate, under the same alias as others. */
  private static final class Pair extends X509ExtendedKeyManager {
    private final PrivateKey key =
        KeyPairGenerator.getInstance("EC").generateKeyPair().getPrivate();
    private final X509Certificate[] chain = {};

    Pair() throws NoSuchAlgorithmException {}

    @Override
    public String chooseEngineServerAlias(String keyType, Principal[] issuers, SSLEngine engine) {
      return "1";
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
      return key;
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
      return chain;
    }

    @Override
    public String[] getServerAliases(String keyType, Principal[] issuers) {
      throw new UnsupportedOperationException();
    }

    @Override
    public String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
      throw new UnsupportedOperationException();
    }

    @Override
    public String[] getClientAliases(String keyType, Principal[] issuers) {
      throw new UnsupportedOperationException();
    }

    @Override
    public String chooseClientAlias(String[] keyType, Principal[] issuers, Socket socket) {
      throw new UnsupportedOperationException();
    }
  }
}
