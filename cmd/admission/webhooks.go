package main

import (
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/admission"
	"github.com/trellis-garden/trellis/internal/admission/aws"
	"github.com/trellis-garden/trellis/internal/admission/calico"
	"github.com/trellis-garden/trellis/internal/admission/gardenet"
	"github.com/trellis-garden/trellis/internal/admission/openstack"
	"github.com/trellis-garden/trellis/internal/admission/registration"
	"github.com/trellis-garden/trellis/internal/manager"
	"github.com/trellis-garden/trellis/internal/manager/webhook"
)

// types are the types that have a provider package.
func types() []string {
	return []string{openstack.Type, aws.Type, calico.Type, gardenet.Type, registration.Type}
}

// webhooksOf returns the webhooks of a type, which read the two clusters.
func webhooksOf(provider string, reader, runtime client.Reader, defaults *defaults) []admission.Webhook {
	garden := admission.Garden{Reader: reader}
	switch provider {
	case openstack.Type:
		return openstack.Webhooks(garden, defaults.openstack)
	case aws.Type:
		return aws.Webhooks(garden, defaults.aws)
	case calico.Type:
		return calico.Webhooks(defaults.calico)
	case gardenet.Type:
		return gardenet.Webhooks()
	case registration.Type:
		return registration.Webhooks(garden, runtime)
	default:
		return nil
	}
}

// webhookNames lists all webhooks, including the mutating ones that exist only if they have defaults to set. They are not called here, so
// they need no cluster.
func webhookNames() []string {
	var names []string
	for _, provider := range types() {
		for _, w := range webhooksOf(provider, nil, nil, newDefaults()) {
			names = append(names, w.Name)
		}
	}
	return names
}

// serveWebhooks registers the webhooks of the provider packages with the server.
func serveWebhooks(p *manager.Process, defaults *defaults) error {
	var served []webhook.Webhook
	for _, provider := range p.Types {
		for _, w := range webhooksOf(provider, p.Garden, p.Manager.GetClient(), defaults) {
			served = append(served, asServed(w))
		}
	}
	return webhook.Serve(p, served...)
}

func asServed(w admission.Webhook) webhook.Webhook {
	kind := webhook.Validating
	if w.Mutates {
		kind = webhook.Mutating
	}
	policy := admissionregistrationv1.Fail
	if equality.Semantic.DeepEqual(w.ObjectSelector, metav1.LabelSelector{}) {
		// It is called for every object of its kind, also for the one by which gardener-operator installs this process. If it is unavailable,
		// it must not block the repair.
		policy = admissionregistrationv1.Ignore
	}
	return webhook.Webhook{
		Name: w.Name, Path: "/" + strings.ReplaceAll(w.Name, ".", "/"), Kind: kind, Garden: !w.Runtime, Handler: w.Handler,
		Rules: w.Rules, ObjectSelector: w.ObjectSelector, AllNamespaces: true, FailurePolicy: policy, Reinvoked: w.Reinvoked,
	}
}
