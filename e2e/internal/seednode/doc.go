// Package seednode is the node of a seed without containers: it runs pods of known programs as processes against a real API server, so that a whole
// Gardener landscape works on one machine without container images. It must not depend on the programs, on Gardener or on a cloud. It needs root
// on Linux, and util-linux, coreutils and iproute2. What it starts cannot outlive it.
//
// # Real
//
//   - A pod has namespaces of its own for network, mounts and host name, an address on a bridge, and a file /etc/hosts with all Services. A
//     container sees its program, its volumes at their paths, /dev, /proc, /tmp, a CA bundle, and nothing else of this machine. Its root is
//     read-only if its security context says so.
//   - Variables, arguments and files are those that a kubelet computes (package kubelet), with tokens of the pod's ServiceAccount. Files follow
//     their Secrets and ConfigMaps, all files of a volume at once.
//   - Init containers and sidecars, probes, restarts, SIGTERM and SIGKILL at the end, status and conditions of pods.
//   - Services lead to ready endpoints. The Node is Ready and renews its Lease.
//
// # Simulated
//
// StandIns lists it. Config.OnStandIn learns of containers whose image has no program here: their pods are reported Running and Ready, or
// Succeeded if they belong to a Job.
package seednode
