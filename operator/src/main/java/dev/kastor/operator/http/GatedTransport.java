package dev.kastor.operator.http;

import io.netty.bootstrap.ServerBootstrap;
import io.quarkus.arc.Arc;
import io.quarkus.arc.ArcContainer;
import io.vertx.core.Vertx;
import io.vertx.core.impl.VertxBuilder;
import io.vertx.core.impl.VertxInternal;
import io.vertx.core.impl.transports.JDKTransport;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.spi.VertxServiceProvider;

/**
 * Transport that puts the {@link Connections gate} before the operator's own servers. Vert.x finds
 * it as a service; it offers no other place at which a connection can be refused as it comes.
 */
public final class GatedTransport extends JDKTransport implements VertxServiceProvider {
  @Override
  public void init(VertxBuilder builder) {
    builder.findTransport(this);
  }

  @Override
  public void configure(NetServerOptions options, boolean domainSocket, ServerBootstrap bootstrap) {
    super.configure(options, domainSocket, bootstrap);
    // Libraries may have a Vert.x of their own.
    ArcContainer beans = Arc.container();
    if (beans != null && beans.instance(Vertx.class).get() instanceof VertxInternal vertx) {
      if (vertx.transport() == this) {
        bootstrap.handler(beans.instance(Connections.class).get().gate());
      }
    }
  }
}
