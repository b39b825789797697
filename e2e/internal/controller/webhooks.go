package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/process"
)

const (
	// registrationTimeout bounds how long a controller takes to register its webhooks.
	registrationTimeout = time.Minute
	registrationPause   = 300 * time.Millisecond
)

// WebhookArgs are the flags with the webhooks' address for a controller that is a process and not a pod.
func (b Binary) WebhookArgs() ([]string, error) {
	address, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	host, port, _ := strings.Cut(address, ":")
	forShoots, err := b.ShootWebhookArgs()
	return append([]string{
		"--webhook-config-mode=url",
		"--webhook-config-url=" + address,
		"--webhook-config-namespace=" + b.Name,
		"--webhook-config-server-host=" + host,
		"--webhook-config-server-port=" + port,
	}, forShoots...), err
}

// ShootWebhookArgs are the flags with the port for webhooks that API servers of shoots call: none for a binary without.
func (b Binary) ShootWebhookArgs() ([]string, error) {
	if b.command() != controlPlane {
		return nil, nil
	}
	address, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := strings.Cut(address, ":")
	return []string{"--webhook-config-shoot-server-port=" + port}, nil
}

// AwaitWebhooks waits until the API server calls the webhooks. A controller that is ready serves its webhooks, but only its leader registers them.
func (b Binary) AwaitWebhooks(ctx context.Context, seed client.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, registrationTimeout)
	defer cancel()
	registration := &admissionregistrationv1.MutatingWebhookConfiguration{}
	for {
		err := seed.Get(ctx, client.ObjectKey{Name: "gardener-extension-" + b.Name}, registration)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("waiting for the webhooks of %s: %w", b.Name, err)
		}
		// The API server watches these objects, and uses them a moment later.
		select {
		case <-time.After(registrationPause):
		case <-ctx.Done():
			return fmt.Errorf("waiting for the webhooks of %s: %w", b.Name, ctx.Err())
		}
		if err == nil {
			return nil
		}
	}
}
