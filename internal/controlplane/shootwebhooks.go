package controlplane

import (
	"context"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/managedresource"
	"github.com/trellis-garden/trellis/internal/controlplane/component"
)

// ShootWebhooks are webhooks of the shoot's API server that a component in the seed serves, or this controller.
type ShootWebhooks struct {
	// Name is the name of the webhook configurations in the shoot.
	Name string
	// Component is the name of the component, whose field Webhooks names the Service. Its certificate must be one of the plan for that Service. It is empty for
	// webhooks that this controller serves: they are mutating, and are not registered where they are disabled.
	Component string
	// Mutating and Validating are the webhooks. The URL in the ClientConfig of each is its path, e.g. "/mutate-v1-service": the contract adds the address and
	// the CA bundle.
	Mutating   []admissionregistrationv1.MutatingWebhook
	Validating []admissionregistrationv1.ValidatingWebhook
}

// objects returns the webhook configurations for a server at an address such as "https://name.namespace:443".
func (w ShootWebhooks) objects(address string, caBundle []byte) []client.Object {
	complete := func(config admissionregistrationv1.WebhookClientConfig) admissionregistrationv1.WebhookClientConfig {
		path := ""
		if config.URL != nil {
			path = *config.URL
		}
		return admissionregistrationv1.WebhookClientConfig{URL: new(address + path), CABundle: caBundle}
	}
	version := admissionregistrationv1.SchemeGroupVersion.String()
	var objects []client.Object
	if len(w.Mutating) > 0 {
		config := &admissionregistrationv1.MutatingWebhookConfiguration{
			TypeMeta:   metav1.TypeMeta{APIVersion: version, Kind: "MutatingWebhookConfiguration"},
			ObjectMeta: metav1.ObjectMeta{Name: w.Name}, Webhooks: slices.Clone(w.Mutating),
		}
		for i := range config.Webhooks {
			config.Webhooks[i].ClientConfig = complete(config.Webhooks[i].ClientConfig)
		}
		objects = append(objects, config)
	}
	if len(w.Validating) > 0 {
		config := &admissionregistrationv1.ValidatingWebhookConfiguration{
			TypeMeta:   metav1.TypeMeta{APIVersion: version, Kind: "ValidatingWebhookConfiguration"},
			ObjectMeta: metav1.ObjectMeta{Name: w.Name}, Webhooks: slices.Clone(w.Validating),
		}
		for i := range config.Webhooks {
			config.Webhooks[i].ClientConfig = complete(config.Webhooks[i].ClientConfig)
		}
		objects = append(objects, config)
	}
	return objects
}

// deployShootWebhooks registers the plan's webhooks in the shoot. Their servers have been deployed before. The CA bundle has all CAs that may have
// signed a server's certificate during a rotation.
func (d *deployment) deployShootWebhooks(ctx context.Context) error {
	if len(d.plan.ShootWebhooks) == 0 {
		return nil
	}
	wanted := managedresource.Resource{Name: resourceShootWebhooks, Annotations: map[string]string{
		annotationWebhookServer: "", annotationWebhookCAs: "", annotationWebhookOwner: "",
	}}
	for _, webhooks := range d.plan.ShootWebhooks {
		address, caBundle, err := d.webhookAddress(ctx, webhooks.Component)
		if err != nil {
			return fmt.Errorf("webhooks %q: %w", webhooks.Name, err)
		}
		if webhooks.Component == "" {
			wanted.Annotations = d.ownServer.annotations(d.rec.Object.Name, caBundle)
		}
		wanted.Objects = append(wanted.Objects, webhooks.objects(address, caBundle)...)
	}
	_, err := d.applyInShoot(ctx, wanted)
	return err
}

// webhookAddress returns where the webhooks of a component are served, and the authorities of their server.
func (d *deployment) webhookAddress(ctx context.Context, name string) (address string, caBundle []byte, err error) {
	if name == "" {
		caBundle, err = d.ownServer.CABundle(ctx)
		return d.ownServer.Address, caBundle, err
	}
	server, err := d.webhookServer(name)
	if err != nil {
		return "", nil, err
	}
	caBundle, err = d.authority.bundle()
	return fmt.Sprintf("https://%s.%s:%d", server.Service, d.rec.Object.Namespace, component.WebhookServicePort), caBundle, err
}

// withoutOwn returns the plan without the webhooks that this controller would serve if they were enabled.
func (p *Plan) withoutOwn() *Plan {
	changed := *p
	changed.ShootWebhooks = slices.DeleteFunc(slices.Clone(p.ShootWebhooks), func(w ShootWebhooks) bool { return w.Component == "" })
	if len(changed.ShootWebhooks) < len(p.ShootWebhooks) {
		changed.Messages = append(slices.Clone(p.Messages), "a webhook for objects of the shoot is left out: it is disabled in this controller (--disable-webhooks)")
	}
	return &changed
}

func (d *deployment) webhookServer(name string) (*component.WebhookServer, error) {
	for _, c := range d.renderer.components {
		if c.Name == name && c.Webhooks != nil {
			return c.Webhooks, nil
		}
	}
	return nil, fmt.Errorf("no component %q serves webhooks", name)
}
