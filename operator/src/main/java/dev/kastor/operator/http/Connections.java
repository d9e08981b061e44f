package dev.kastor.operator.http;

import dev.kastor.operator.metrics.Metrics;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Gate before both ports: it bounds how many connections there are of those who have shown no good
 * token, and ends those whose request is not whole in time.
 *
 * <p>It stands where connections are accepted: what is never a whole request reaches no filter.
 */
@Singleton
public final class Connections {
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final int BEFORE_REFUSALS = 600;

  private final Map<EventLoop, LoopClock> clocks = new ConcurrentHashMap<>();
  private final ConnectionLimit limit = new ConnectionLimit(Runtime.getRuntime().maxMemory());
  private final Metrics metrics;

  Connections(Metrics metrics) {
    this.metrics = metrics;
  }

  /** One look a second at all of them, in place of a timer for each request. */
  void register(@Observes Filters filters, Vertx vertx) {
    filters.register(Connections::begin, BEFORE_REFUSALS);
    vertx.setPeriodic(LOOK.toMillis(), id -> count("slow", limit.endLate()));
  }

  /** Counts the connection of a request as its owner's from now on, no more as a stranger's. */
  public void vouch(HttpServerRequest request, String owner) {
    OpenConnection connection = OpenConnection.of(request);
    if (connection != null) {
      count("crowd", limit.vouch(connection, owner));
    }
  }

  private static void begin(RoutingContext context) {
    OpenConnection connection = OpenConnection.of(context.request());
    if (connection != null) {
      if (connection.isEnding()) {
        return;
      }
      connection.begin(context.request());
      context.addEndHandler(answered -> connection.answered());
    }
    context.next();
  }

  /** What a server's own channel needs to pass accepted connections through the gate. */
  ChannelHandler gate() {
    return new ChannelInboundHandlerAdapter() {
      @Override
      public void channelRead(ChannelHandlerContext context, Object accepted) {
        if (accepted instanceof Channel channel && !admit(channel)) {
          channel.unsafe().closeForcibly();
          return;
        }
        context.fireChannelRead(accepted);
      }
    };
  }

  private boolean admit(Channel channel) {
    OpenConnection connection =
        new OpenConnection(channel, loop -> clocks.computeIfAbsent(loop, LoopClock::of));
    ConnectionLimit.Admission admission = limit.admit(connection);
    count("crowd", admission.ended());
    if (admission.admitted()) {
      channel.pipeline().addLast(connection);
      channel.closeFuture().addListener(closed -> limit.remove(connection));
    }
    return admission.admitted();
  }

  private void count(String reason, int connections) {
    for (int i = 0; i < connections; i++) {
      metrics.refused(reason);
    }
  }
}
