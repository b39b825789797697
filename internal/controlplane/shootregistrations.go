package controlplane

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/managedresource"
)

// Annotations on the ManagedResource of a shoot's webhooks: the address of the controller's server, if it serves some of them, the checksum of the CA bundle
// that they have, and the ControlPlane's name.
const (
	annotationWebhookServer = "controlplane.trellis.garden/webhook-server"
	annotationWebhookCAs    = "controlplane.trellis.garden/webhook-ca-bundle"
	annotationWebhookOwner  = "controlplane.trellis.garden/webhook-owner"
)

// WebhookServer is the server of the process, for webhooks of shoots that no component serves.
type WebhookServer struct {
	// Address is a URL without a path. The kube-apiservers of shoots reach it.
	Address string
	// CABundle returns the authorities that may have signed its certificate, in PEM.
	CABundle func(ctx context.Context) ([]byte, error)
}

// annotations of the ManagedResource of webhooks that the process serves.
func (s *WebhookServer) annotations(owner string, caBundle []byte) map[string]string {
	return map[string]string{annotationWebhookServer: s.Address, annotationWebhookCAs: checksum(caBundle), annotationWebhookOwner: owner}
}

func checksum(caBundle []byte) string {
	sum := sha256.Sum256(caBundle)
	return hex.EncodeToString(sum[:])
}

// ShootRegistrations are the registrations in all shoots of webhooks that one process serves.
type ShootRegistrations struct {
	// Client reads from the API server, never from a cache.
	Client client.Client
	// Address is the WebhookServer's.
	Address string
	Log     logr.Logger
}

// Trust makes all registrations contain a CA bundle, and returns those that they had before. It changes no more than that: what a shoot needs is decided when
// its ControlPlane is reconciled.
//
// One that cannot be changed is logged and left out, so that the trouble of one shoot never prevents the renewal of the certificate for the seed and all other
// shoots. It is tried again with the next call; until it succeeds, its shoot may do without the webhooks.
func (r ShootRegistrations) Trust(ctx context.Context, caBundle []byte) ([][]byte, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(resourcesv1alpha1.SchemeGroupVersion.WithKind("ManagedResourceList"))
	options := &client.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", resourceShootWebhooks),
		Raw:           &metav1.ListOptions{ResourceVersion: "0"}, // from the memory of the API server: this is called often
	}
	if err := r.Client.List(ctx, list, options); err != nil {
		return nil, fmt.Errorf("listing ManagedResources %s: %w", resourceShootWebhooks, err)
	}
	var bundles [][]byte
	for _, found := range list.Items {
		switch {
		case found.Annotations[annotationWebhookServer] != r.Address || !found.DeletionTimestamp.IsZero():
		case found.Annotations[annotationWebhookCAs] == checksum(caBundle):
			bundles = append(bundles, caBundle)
		default:
			before, err := r.replace(ctx, found.Namespace, caBundle)
			if err != nil && ctx.Err() == nil {
				r.Log.Error(err, "Renewing the CA bundle of a shoot's webhooks failed", "namespace", found.Namespace)
			}
			bundles = append(bundles, before...)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("renewing the CA bundle of %d registrations: %w", len(list.Items), err)
	}
	return bundles, nil
}

// replace replaces the CA bundle of one shoot's webhooks, and returns those that they had before.
func (r ShootRegistrations) replace(ctx context.Context, namespace string, caBundle []byte) ([][]byte, error) {
	store := managedresource.Store{Client: r.Client, Namespace: namespace}
	resource, err := store.Get(ctx, resourceShootWebhooks)
	if err != nil || resource == nil || !resource.DeletionTimestamp.IsZero() || resource.Annotations[annotationWebhookServer] != r.Address {
		return nil, err
	}
	content, _, err := store.Content(ctx, resourceShootWebhooks)
	if err != nil {
		return nil, err
	}
	var before [][]byte
	wanted := managedresource.Resource{
		Name: resourceShootWebhooks, Annotations: (&WebhookServer{Address: r.Address}).annotations(resource.Annotations[annotationWebhookOwner], caBundle),
	}
	for _, object := range content {
		changed, bundles, err := r.withBundle(object, caBundle)
		if err != nil {
			return nil, err
		}
		before = append(before, bundles...)
		wanted.Objects = append(wanted.Objects, changed)
	}
	if len(before) == 0 {
		return nil, nil // upstream's extension has replaced the content since
	}
	store.Labels = map[string]string{labelOwner: resource.Annotations[annotationWebhookOwner]}
	return before, store.Replace(ctx, resource, wanted)
}

// withBundle returns a webhook configuration with another CA bundle for those of its webhooks that the process serves. Other objects stay as they are.
func (r ShootRegistrations) withBundle(object *unstructured.Unstructured, caBundle []byte) (changed client.Object, before [][]byte, err error) {
	if object.GetKind() != "MutatingWebhookConfiguration" {
		return object, nil, nil
	}
	config := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, config); err != nil {
		return nil, nil, fmt.Errorf("reading %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	for i := range config.Webhooks {
		webhook := &config.Webhooks[i].ClientConfig
		if webhook.URL != nil && strings.HasPrefix(*webhook.URL, r.Address+"/") {
			before, webhook.CABundle = append(before, webhook.CABundle), caBundle
		}
	}
	return config, before, nil
}
