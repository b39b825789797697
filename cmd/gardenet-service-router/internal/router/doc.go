// Package router routes the Services of a shoot on one node, as kube-proxy in nftables mode does: it feeds Kubernetes' own proxier, verifies from time to time that
// the rules in the kernel are the ones that the proxier made, and hands over between this process and kube-proxy without a time in which nobody routes.
//
// Each node routes Services by at least one of both. A router leaves its rules in the kernel when it ends. It removes kube-proxy's only where kube-proxy does not
// run and its own are complete, and its own only where kube-proxy runs and has made rules for all families.
//
// The package must not know how the process is configured or deployed, nor the table of gardenet's agent.
package router
