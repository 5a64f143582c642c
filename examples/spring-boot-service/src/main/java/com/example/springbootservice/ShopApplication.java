package com.example.springbootservice;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableScheduling;

/** A service that sells. Its locks are in the Redis of {@code mortise.redis.uri}. */
@SpringBootApplication
@EnableScheduling
public class ShopApplication {

  /**
   * Starts the service.
   *
   * @param arguments properties, such as {@code --mortise.redis.uri=redis://host:6379}
   */
  public static void main(String... arguments) {
    SpringApplication.run(ShopApplication.class, arguments);
  }
}
