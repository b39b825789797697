package controlplane

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract/shootclient"
)

// names returns the conditions in the format of a ControlPlane's status.
func (c NodeCondition) names() []string {
	var names []string
	for _, reason := range c.Reasons {
		names = append(names, fmt.Sprintf("%s/%s", c.Type, reason))
	}
	return names
}

func (c NodeCondition) matches(condition corev1.NodeCondition) bool {
	return condition.Type == c.Type && slices.Contains(c.Reasons, condition.Reason)
}

// cleanNodes removes stale conditions from all nodes of the shoot.
func cleanNodes(ctx context.Context, seed client.Reader, namespace string, stale []NodeCondition) error {
	shoot, err := shootclient.New(ctx, seed, namespace)
	if err != nil {
		return err
	}
	return shootclient.EachNode(ctx, shoot, func(node *corev1.Node) error { return cleanNode(ctx, shoot, node, stale) })
}

// cleanNode uses an optimistic lock: kubelet and network plugin write the same list.
func cleanNode(ctx context.Context, shoot client.Client, node *corev1.Node, stale []NodeCondition) error {
	isStale := func(condition corev1.NodeCondition) bool {
		return slices.ContainsFunc(stale, func(s NodeCondition) bool { return s.matches(condition) })
	}
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if !slices.ContainsFunc(node.Status.Conditions, isStale) {
			return nil
		}
		cleaned := node.DeepCopy()
		cleaned.Status.Conditions = slices.DeleteFunc(cleaned.Status.Conditions, isStale)
		err := shoot.Status().Update(ctx, cleaned)
		if apierrors.IsConflict(err) {
			if readErr := shoot.Get(ctx, client.ObjectKeyFromObject(node), node); readErr != nil {
				return readErr
			}
		}
		return err
	})
	if client.IgnoreNotFound(err) != nil {
		return cloud.Errorf(cloud.Unavailable, "removing stale conditions from node %q: %w", node.Name, err)
	}
	return nil
}
