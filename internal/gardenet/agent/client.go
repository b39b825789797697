package agent

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Client is what the agent needs of the API server.
type Client interface {
	// ListerWatcher lists and watches all objects of a resource.
	ListerWatcher(resource Resource) cache.ListerWatcher
	// PatchNodeStatus applies a strategic merge patch to the status of a Node.
	PatchNodeStatus(ctx context.Context, name string, patch []byte) error
	// CreateEvent creates an Event in its namespace.
	CreateEvent(ctx context.Context, event *eventsv1.Event) error
}

// Resource is a resource that the agent watches.
type Resource string

// The resources that the agent watches. Pods are those that have not ended.
const (
	Nodes           Resource = "nodes"
	Pods            Resource = "pods"
	Namespaces      Resource = "namespaces"
	NetworkPolicies Resource = "networkpolicies"
)

// NewClient returns a client of an API server. It is made of REST clients for three API groups: client-go's typed clients know all groups, which makes the
// binary 10 MB larger.
func NewClient(config *rest.Config) (Client, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), networkingv1.AddToScheme(scheme), eventsv1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("registering kinds: %w", err)
	}
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("creating HTTP client: %w", err)
	}
	client := &restClient{}
	for version, target := range map[schema.GroupVersion]*rest.Interface{
		corev1.SchemeGroupVersion: &client.core, networkingv1.SchemeGroupVersion: &client.networking, eventsv1.SchemeGroupVersion: &client.events,
	} {
		config.GroupVersion, config.APIPath = &version, "/apis"
		if version.Group == "" {
			config.APIPath = "/api"
		}
		if *target, err = rest.RESTClientForConfigAndClient(config, httpClient); err != nil {
			return nil, fmt.Errorf("creating client for %s: %w", version, err)
		}
	}
	return client, nil
}

// restClient implements Client.
type restClient struct {
	core, networking, events rest.Interface
}

var _ Client = (*restClient)(nil)

// ListerWatcher implements Client.
func (c *restClient) ListerWatcher(resource Resource) cache.ListerWatcher {
	client, selector := c.core, fields.Everything()
	switch resource {
	case NetworkPolicies:
		client = c.networking
	case Pods:
		selector = fields.AndSelectors(
			fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
			fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
		)
	}
	return cache.NewListWatchFromClient(client, string(resource), metav1.NamespaceAll, selector)
}

// PatchNodeStatus implements Client.
func (c *restClient) PatchNodeStatus(ctx context.Context, name string, patch []byte) error {
	return c.core.Patch(types.StrategicMergePatchType).Resource(string(Nodes)).Name(name).SubResource("status").Body(patch).Do(ctx).Error()
}

// CreateEvent implements Client.
func (c *restClient) CreateEvent(ctx context.Context, event *eventsv1.Event) error {
	return c.events.Post().Namespace(event.Namespace).Resource("events").Body(event).Do(ctx).Error()
}
