package io.kvasir.benchmarks.proxy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * nginx as a proxy before one engine: one worker process, connections to the engine kept alive,
 * nothing buffered. Its configuration is in a folder of its own.
 *
 * <p>Stateless.
 */
final class NginxServer {

  private static final String CONFIGURATION =
      """
      daemon off;
      worker_processes 1;
      worker_rlimit_nofile 16384;
      pid nginx.pid;
      error_log stderr warn;
      events {
        worker_connections 16384;
      }
      http {
        access_log off;
        client_body_temp_path body;
        proxy_temp_path proxy;
        fastcgi_temp_path fastcgi;
        uwsgi_temp_path uwsgi;
        scgi_temp_path scgi;
        keepalive_requests 1000000000;
        upstream engine {
          server 127.0.0.1:ENGINE_PORT;
          keepalive 64;
          keepalive_requests 1000000000;
        }
        server {
          listen 127.0.0.1:PORT backlog=4096;
          client_max_body_size 64m;
          client_body_buffer_size 1m;
          location / {
            proxy_pass http://engine;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_buffering off;
            proxy_read_timeout 3600s;
          }
        }
      }
      """;

  private NginxServer() {}

  private static String program() throws IOException {
    return Tools.find("nginx", "nginx is missing. Install it: apt-get install nginx-light");
  }

  /** The version, for example {@code nginx/1.22.1}; an exception if nginx is missing. */
  static String version() throws IOException {
    return Tools.output(List.of(program(), "-v")).strip().replaceFirst("^nginx version: ", "");
  }

  static ServerProcess start(Path folder, int enginePort) throws IOException {
    int port = Tools.freePort();
    Path home = Files.createDirectories(folder.resolve("nginx"));
    Path configuration = home.resolve("nginx.conf");
    Files.writeString(
        configuration,
        CONFIGURATION
            .replace("ENGINE_PORT", Integer.toString(enginePort))
            .replace("PORT", Integer.toString(port)));
    List<String> command =
        List.of(program(), "-e", "stderr", "-p", home + "/", "-c", configuration.toString());
    return ServerProcess.start("nginx", port, command, folder.resolve("nginx.log"));
  }
}
