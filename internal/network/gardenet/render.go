package gardenet

import (
	"fmt"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/trellis-garden/trellis/apis/gardenet/v1alpha1"
	"github.com/trellis-garden/trellis/internal/network"
)

// agentName is the name of the agents' DaemonSet, of its container and image, of its ServiceAccount and of the Service with its metrics.
const agentName = "gardenet-agent"

// render returns the objects of gardenet.
func (s *settings) render() (*network.Rendering, error) {
	document, err := s.document()
	if err != nil {
		return nil, fmt.Errorf("building the configuration of agents: %w", err)
	}
	daemonSet, err := s.daemonSet(document.Name)
	if err != nil {
		return nil, fmt.Errorf("building the agents: %w", err)
	}
	seed, err := s.monitoringObjects()
	if err != nil {
		return nil, fmt.Errorf("building monitoring: %w", err)
	}
	objects := append(s.account(), document, daemonSet, metricsService())
	if s.verticalAutoscaling {
		objects = append(objects, s.verticalPodAutoscaler())
	}
	if s.form.Services != "" {
		objects = append(objects, s.serviceRouter()...)
	}
	status := v1alpha1.NewNetworkStatus()
	status.Effective = s.config
	return &network.Rendering{Shoot: objects, Seed: seed, Form: s.form, Status: status}, nil
}

// selector selects the pods of an app. It cannot be changed on an existing DaemonSet.
func selector(app string) map[string]string { return map[string]string{"app": app} }

func inKubeSystem(name, app string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: metav1.NamespaceSystem,
		Labels: map[string]string{"app": app, v1beta1constants.GardenRole: v1beta1constants.GardenRoleSystemComponent},
	}
}
