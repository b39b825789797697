package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	networkReason  = "GardenetIsUp"
	networkMessage = "gardenet has set up the network of this node"
)

// conditionReporter sets the condition NetworkUnavailable of the own Node. Until it is False, the node has a taint that keeps pods away.
type conditionReporter struct {
	client Client
	log    logr.Logger
	// patched is the version of the Node before the last patch: the cache has not seen the result as long as it has that.
	patched string
}

// report patches the Node's status if the condition is another one.
func (r *conditionReporter) report(ctx context.Context, node *corev1.Node) error {
	condition := corev1.NodeCondition{Type: corev1.NodeNetworkUnavailable, LastTransitionTime: metav1.Now()}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeNetworkUnavailable {
			condition = c
		}
	}
	if condition.Status == corev1.ConditionFalse && condition.Reason == networkReason {
		return nil
	}
	if node.ResourceVersion != "" && node.ResourceVersion == r.patched {
		return nil
	}
	if condition.Status != corev1.ConditionFalse {
		condition.LastTransitionTime = metav1.Now()
	}
	condition.Status, condition.Reason, condition.Message = corev1.ConditionFalse, networkReason, networkMessage
	condition.LastHeartbeatTime = metav1.Now()
	if err := r.patch(ctx, node, condition); err != nil {
		return fmt.Errorf("setting the condition %s of Node %s: %w", condition.Type, node.Name, err)
	}
	r.log.Info("Set the condition of the Node", "condition", condition.Type, "status", condition.Status, "reason", condition.Reason)
	return nil
}

// withdraw removes the condition if an agent has set it: the route controller of a cloud does not set one that is False already.
func (r *conditionReporter) withdraw(ctx context.Context, node *corev1.Node) error {
	isOurs := slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeNetworkUnavailable && c.Reason == networkReason
	})
	if !isOurs || node.ResourceVersion != "" && node.ResourceVersion == r.patched {
		return nil
	}
	if err := r.patch(ctx, node, map[string]any{"type": corev1.NodeNetworkUnavailable, "$patch": "delete"}); err != nil {
		return fmt.Errorf("removing the condition %s of Node %s: %w", corev1.NodeNetworkUnavailable, node.Name, err)
	}
	r.log.Info("Removed the condition of the Node, which others set now", "condition", corev1.NodeNetworkUnavailable)
	return nil
}

func (r *conditionReporter) patch(ctx context.Context, node *corev1.Node, condition any) error {
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []any{condition}}})
	if err != nil {
		return fmt.Errorf("encoding the condition: %w", err)
	}
	if err := r.client.PatchNodeStatus(ctx, node.Name, patch); err != nil {
		return err
	}
	r.patched = node.ResourceVersion
	return nil
}
