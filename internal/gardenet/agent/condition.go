package agent

import (
	"context"
	"encoding/json"
	"fmt"

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
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []corev1.NodeCondition{condition}}})
	if err != nil {
		return fmt.Errorf("encoding the condition of Node %s: %w", node.Name, err)
	}
	if err := r.client.PatchNodeStatus(ctx, node.Name, patch); err != nil {
		return fmt.Errorf("setting the condition %s of Node %s: %w", condition.Type, node.Name, err)
	}
	r.patched = node.ResourceVersion
	r.log.Info("Set the condition of the Node", "condition", condition.Type, "status", condition.Status, "reason", condition.Reason)
	return nil
}
