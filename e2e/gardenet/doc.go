// Package gardenet runs agents of gardenet on two nodes that are network namespaces, joined by a bridge, with pods that the real CNI plugins connect and a real
// API server, and sends packets between them: make e2e-gardenet. It needs root and Debian's nftables. The agent is a process like on a node; the package must not
// depend on its code.
package gardenet
