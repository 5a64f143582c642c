package com.example.springbootservice;

import io.mortise.spring.boot.Locked;
import io.mortise.spring.boot.WhenBusy;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** A job that each node schedules and one node runs. */
@Component
class Reports {
  private final StockService stock;

  Reports(StockService stock) {
    this.stock = stock;
  }

  // snippet: report
  @Scheduled(cron = "0 0 2 * * *")
  @Locked(name = "report", waitTime = "0s", atLeast = "5m", whenBusy = WhenBusy.SKIP)
  public void report() {
    System.out.println("shoes left: " + stock.amount("shoe"));
  }
  // end
}
