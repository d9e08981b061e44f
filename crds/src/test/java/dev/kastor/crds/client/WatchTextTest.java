package dev.kastor.crds.client;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.http.AsyncBody;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Tag;

class WatchTextTest {
  /** Bytes are pushed here, and nobody asks for more. */
  private static final AsyncBody NO_BODY =
      new AsyncBody() {
        @Override
        public void consume() {}

        @Override
        public CompletableFuture<Void> done() {
          return CompletableFuture.completedFuture(null);
        }

        @Override
        public void cancel() {}
      };

  /** Wherever the bytes are cut, what arrives is ASCII and says the same. */
  @Tag("slow")
  @RepeatedTest(50)
  void saysTheSameInAscii(RepetitionInfo repetition) throws Exception {
    Random random = new Random(repetition.getCurrentRepetition());
    ObjectMapper json = new ObjectMapper();
    String text =
        random
            .ints(1 + random.nextInt(200))
            .map(any -> any & 0x1fffff)
            .map(any -> random.nextInt(3) == 0 ? any % 128 : any)
            .filter(Character::isDefined)
            .filter(point -> point < Character.MIN_SURROGATE || point > Character.MAX_SURROGATE)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString();
    byte[] sent = json.writeValueAsBytes(text);
    StringBuilder arrived = new StringBuilder();
    var escaping =
        new WatchText.Escaping((buffers, body) ->
            buffers.forEach(bytes -> {
              // As the client does it: the array to its end.
              arrived.append(new String(UTF_8.decode(bytes).array()));
            }));
    int at = 0;
    while (at < sent.length) {
      List<ByteBuffer> buffers = new ArrayList<>();
      for (int i = random.nextInt(3); i >= 0; i--) {
        int length = Math.min(sent.length - at, random.nextInt(8));
        buffers.add(ByteBuffer.wrap(sent, at, length));
        at += length;
      }
      escaping.consume(buffers, NO_BODY);
    }
    assertThat(US_ASCII.newEncoder().canEncode(arrived)).isTrue();
    assertThat(json.readValue(arrived.toString(), String.class)).isEqualTo(text);
  }
}
