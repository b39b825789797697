// Package manager runs the process of a controller binary: command line, logging, metrics, health, leader election, heartbeat and graceful shutdown.
// Each main.go defines a Binary, and adds its controllers in Setup.
//
// The package knows controller-runtime. It must not know contracts, drivers and clouds.
package manager
