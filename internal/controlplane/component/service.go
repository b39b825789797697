package component

import (
	"encoding/json"
	"fmt"
	"maps"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// port returns the container port with a name.
func (c Component) port(name string) (corev1.ContainerPort, bool) {
	for _, container := range c.Containers {
		for _, port := range container.Ports {
			if port.Name == name {
				return port, true
			}
		}
	}
	return corev1.ContainerPort{}, false
}

// allowFrom returns the annotation of a Service by which Gardener allows connections to the port from pods with a network policy label.
func allowFrom(label string, port corev1.ContainerPort) (map[string]string, error) {
	ports, err := json.Marshal([]networkingv1.NetworkPolicyPort{{
		Protocol: new(corev1.ProtocolTCP), Port: new(intstr.FromInt32(port.ContainerPort)),
	}})
	if err != nil {
		return nil, fmt.Errorf("encoding port %q: %w", port.Name, err)
	}
	return map[string]string{
		resourcesv1alpha1.NetworkPolicyFromPolicyAnnotationPrefix + label + resourcesv1alpha1.NetworkPolicyFromPolicyAnnotationSuffix: string(ports),
	}, nil
}

// webhookService is the Service for the shoot's kube-apiserver, whose pods have the label for targets of webhooks.
func (c Component) webhookService(values Values) (*corev1.Service, error) {
	port, found := c.port(c.Webhooks.Port)
	if !found {
		return nil, fmt.Errorf("no container has the port %q, which serves webhooks", c.Webhooks.Port)
	}
	if c.Metrics != nil && c.Webhooks.Service == c.Name {
		return nil, fmt.Errorf("the Service %q is for metrics: webhooks need another one", c.Name)
	}
	annotations, err := allowFrom(v1beta1constants.LabelNetworkPolicyWebhookTargets, port)
	if err != nil {
		return nil, err
	}
	return &corev1.Service{
		TypeMeta: metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{
			Name: c.Webhooks.Service, Namespace: values.Namespace, Labels: maps.Clone(c.Selector), Annotations: annotations,
		},
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeClusterIP,
			Selector: maps.Clone(c.Selector),
			Ports: []corev1.ServicePort{{
				Name: port.Name, Port: WebhookServicePort, TargetPort: intstr.FromInt32(port.ContainerPort), Protocol: corev1.ProtocolTCP,
			}},
		},
	}, nil
}
