// Package netpol runs upstream's tests of NetworkPolicies, and those of its conformance tests that concern networks, in a kind cluster of three nodes whose network is
// gardenet, and tests what upstream does not: that connections survive an update of the agents, and pods a restart of their node. Its tests have the build tag netpol,
// since they need Docker: make e2e-netpol. All share one cluster, see environment_test.go.
package netpol
