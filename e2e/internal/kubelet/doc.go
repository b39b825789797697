// Package kubelet computes what a kubelet makes of a pod: the variables and arguments of its containers, the files of its volumes, its status, and
// what answers to probes mean. It runs nothing and writes nothing to an API server: package workload and package seednode do. It must not depend
// on them.
package kubelet

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ErrUnsupported is part of the error for a feature of pods that is not simulated here. It does not go away.
var ErrUnsupported = errors.New("not supported here")

// Pod is a pod with what its variables and files are made of.
type Pod struct {
	*corev1.Pod
	// Reader reads Secrets and ConfigMaps.
	Reader client.Reader
	// Token returns a token of the pod's ServiceAccount. Without it, tokens are not supported.
	Token func(context.Context, *corev1.ServiceAccountTokenProjection) ([]byte, error)
	// Template marks a pod that exists as a template only: fields and resources of the pod are not supported.
	Template bool
	// Allocatable are the resources of the node, which count where a container has no limit.
	Allocatable corev1.ResourceList
}

func isTrue(value *bool) bool { return value != nil && *value }
