// Package machine is the process of a machine driver, which runs beside machine-controller-manager (MCM): its flags, which are those of MCM's library,
// its logs, metrics and shutdown. The library decides about operations and calls the driver; it handles no signals and may end the
// process at any time.
//
// The package must not depend on its drivers, controller-runtime, or an SDK.
package machine
