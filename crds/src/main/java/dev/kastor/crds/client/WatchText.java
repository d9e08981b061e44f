package dev.kastor.crds.client;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.AsyncBody.Consumer;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Interceptor that escapes all characters beyond ASCII in what a watch over plain HTTP brings.
 *
 * <p>The client (Fabric8 7.3, {@code WatchHTTPManager}) decodes each buffer on its own and reads
 * the array behind the characters to its end: any character of several bytes adds NULs, and one
 * that lies in two buffers is lost. Either ends the watch, again and again. JSON has such
 * characters in strings alone, where an escape means the same.
 */
public final class WatchText implements Interceptor {
  /** Under which a client knows it. */
  public static final String NAME = "kastor-watch-text";

  @Override
  public Consumer<List<ByteBuffer>> consumer(
      Consumer<List<ByteBuffer>> consumer, HttpRequest request) {
    String query = request.uri().getQuery();
    return query != null && List.of(query.split("&")).contains("watch=true")
        ? new Escaping(consumer)
        : consumer;
  }

  /** Passes on bytes in which every character is ASCII. One thread at a time calls it. */
  static final class Escaping implements Consumer<List<ByteBuffer>> {
    private final Consumer<List<ByteBuffer>> next;
    private final CharsetDecoder decoder =
        UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);

    /** The beginning of a character whose other bytes have not come yet. */
    private ByteBuffer begun = ByteBuffer.allocate(0);

    Escaping(Consumer<List<ByteBuffer>> next) {
      this.next = next;
    }

    @Override
    public void consume(List<ByteBuffer> buffers, AsyncBody body) throws Exception {
      next.consume(buffers.stream().map(this::escaped).toList(), body);
    }

    @Override
    public <U> @Nullable U unwrap(Class<U> type) {
      return next.unwrap(type);
    }

    private ByteBuffer escaped(ByteBuffer bytes) {
      if (!begun.hasRemaining() && ascii(bytes)) {
        return bytes;
      }
      ByteBuffer all = ByteBuffer.allocate(begun.remaining() + bytes.remaining());
      all.put(begun).put(bytes).flip();
      CharBuffer chars = CharBuffer.allocate(all.remaining());
      decoder.reset().decode(all, chars, false);
      begun = all.slice();
      chars.flip();
      StringBuilder text = new StringBuilder(chars.remaining() + 64);
      while (chars.hasRemaining()) {
        char c = chars.get();
        if (c < 128) {
          text.append(c);
        } else {
          text.append("\\u%04x".formatted((int) c));
        }
      }
      return ByteBuffer.wrap(text.toString().getBytes(US_ASCII));
    }

    private static boolean ascii(ByteBuffer bytes) {
      for (int i = bytes.position(); i < bytes.limit(); i++) {
        if (bytes.get(i) < 0) {
          return false;
        }
      }
      return true;
    }
  }
}
