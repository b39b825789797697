package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/garden"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

const (
	// reviews is how many Shoots each webhook gets, atOnce how many of them concurrently; fewer is how many it gets one by one.
	reviews, atOnce, fewer = 2000, 50, 200
	// admissionNamespace is the binary's own in the runtime cluster, and owns its webhook configurations in the garden.
	admissionNamespace = "garden"
	// admissionTimeout bounds the binary's end, and the registration of its webhooks.
	admissionTimeout = time.Minute
)

// admissionBench measures the costs of a Shoot in admission. It sends reviews to the binary as the garden's API server does, whose own time is
// not included.
type admissionBench struct {
	*clusters.Clusters
	garden  *garden.Garden
	screen  *terminal.Screen
	dir     string
	binary  string
	process *controller.Controller
}

func benchAdmission(ctx context.Context, screen *terminal.Screen, _ options, _ *results) (err error) {
	screen.Heading("Trellis: what a Shoot costs in admission")
	dir, err := os.MkdirTemp("", "trellis-")
	if err != nil {
		return fmt.Errorf("creating a folder for this run: %w", err)
	}
	b := &admissionBench{screen: screen, dir: dir}
	defer func() { err = errors.Join(err, b.stop(), os.RemoveAll(dir)) }()
	for _, step := range []struct {
		name string
		do   func(context.Context) (string, error)
	}{{"garden", b.startClusters}, {"objects", b.fill}, {"admission", b.startBinary}} {
		if err := screen.Step(step.name, func(io.Writer) (string, error) { return step.do(ctx) }); err != nil {
			return err
		}
	}
	return b.measure(ctx)
}

func (b *admissionBench) startClusters(ctx context.Context) (string, error) {
	var err error
	if b.Clusters, err = clusters.New(ctx, clusters.Options{Dir: b.dir, Bare: true, Garden: garden.Beside(&b.garden)}); err != nil {
		return "", err
	}
	b.binary, err = controller.Admission().Build(ctx)
	return "gardener-apiserver, and the API server of a runtime cluster", err
}

// fill creates the objects that the binary reads.
func (b *admissionBench) fill(ctx context.Context) (string, error) {
	profile := largeCloudProfile()
	for _, object := range []client.Object{profile, benchedCredentials(), benchedBinding()} {
		if err := b.garden.Client.Create(ctx, object); err != nil {
			return "", fmt.Errorf("creating %T %s: %w", object, object.GetName(), err)
		}
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: admissionNamespace}}
	if err := b.Source.Client.Create(ctx, namespace); err != nil {
		return "", fmt.Errorf("creating namespace %s: %w", namespace.Name, err)
	}
	return fmt.Sprintf("a Shoot of %d pools, and a CloudProfile of %d kB", pools, sizeOf(profile)/kilobyte), nil
}

// startBinary starts it with administrators' rights: other tests check its own.
func (b *admissionBench) startBinary(ctx context.Context) (string, error) {
	address, err := process.FreeAddress()
	if err != nil {
		return "", err
	}
	binary := controller.Admission()
	binary.Types = []string{"openstack", "calico"}
	b.process, err = binary.StartAdmission(ctx, controller.AdmissionOptions{
		Path: b.binary, Output: filepath.Join(b.dir, "admission.log"),
		Runtime: b.Source.Kubeconfig, Garden: b.garden.Kubeconfig,
		Namespace: admissionNamespace, OwnerNamespace: admissionNamespace, Address: address,
		Args: []string{"--log-level=info"},
	})
	return "as it is shipped", err
}

// endpoints are the binary's registered webhooks for new Shoots.
func (b *admissionBench) endpoints(ctx context.Context) ([]endpoint, error) {
	ctx, cancel := context.WithTimeout(ctx, admissionTimeout)
	defer cancel()
	for {
		mutating, validating := &admissionregistrationv1.MutatingWebhookConfigurationList{}, &admissionregistrationv1.ValidatingWebhookConfigurationList{}
		if err := errors.Join(b.garden.Client.List(ctx, mutating), b.garden.Client.List(ctx, validating)); err != nil {
			return nil, fmt.Errorf("listing webhooks: %w", err)
		}
		var found []endpoint
		for _, configuration := range mutating.Items {
			for _, webhook := range configuration.Webhooks {
				found = appendShoots(found, webhook.Name, webhook.ClientConfig)
			}
		}
		if len(validating.Items) > 0 && len(mutating.Items) > 0 {
			for _, webhook := range validating.Items[0].Webhooks {
				found = appendShoots(found, webhook.Name, webhook.ClientConfig)
			}
			return found, nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for webhooks: %w", ctx.Err())
		}
	}
}

// endpoint is one webhook.
type endpoint struct {
	name, url string
	ca        []byte
}

func appendShoots(endpoints []endpoint, name string, config admissionregistrationv1.WebhookClientConfig) []endpoint {
	if !strings.HasPrefix(name, "shoot") || config.URL == nil {
		return endpoints
	}
	short, _, _ := strings.Cut(name, ".admission.")
	return append(endpoints, endpoint{name: short, url: *config.URL, ca: config.CABundle})
}

func (b *admissionBench) stop() error {
	var failures []error
	if b.process != nil {
		ctx, cancel := context.WithTimeout(context.Background(), admissionTimeout)
		defer cancel()
		failures = append(failures, b.process.Terminate(ctx))
	}
	if b.Clusters != nil {
		failures = append(failures, b.Close())
	}
	return errors.Join(failures...)
}
