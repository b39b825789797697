// Package monitoring builds the objects by which the shoot's Prometheus and Plutono in the seed watch a network plugin: scrape configurations, alerts and dashboards.
// It must not know any plugin or its metrics.
package monitoring
