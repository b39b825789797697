// Package command is the process of the service router: flags, logs, probes and metrics. It must not know how Services become rules.
package command
