package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/checks"
	"github.com/trellis-garden/trellis/e2e/internal/timeline"
)

// requestTimeout bounds the look whether all controllers are there.
const requestTimeout = 10 * time.Second

// kindsOf returns the kinds of extension objects that our controllers act for, by the names of their registrations. The others have none.
func kindsOf(registration string) []string {
	return map[string][]string{
		"infrastructure": {extensionsv1alpha1.InfrastructureResource},
		"controlplane":   {extensionsv1alpha1.ControlPlaneResource},
		"worker":         {extensionsv1alpha1.WorkerResource},
		"network":        {extensionsv1alpha1.NetworkResource},
	}[registration]
}

// isOurs reports whether a span is of an object that one of our controllers acts for.
func (r *run) isOurs(span timeline.Span) bool {
	for _, registration := range r.Registrations {
		if slices.Contains(kindsOf(registration), span.Kind) {
			return true
		}
	}
	return false
}

// missing names our controllers that are not there, in seeds with control planes of shoots, and registrations that are not in the garden.
func (r *run) missing(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	missing := r.unregistered(ctx)
	for _, s := range r.seeds {
		facts, err := r.facts(ctx, s)
		if err != nil {
			missing = append(missing, "looking for our controllers in seed "+s.Name+": "+err.Error())
			continue
		}
		if facts != nil {
			missing = append(missing, checks.Missing(*facts)...)
		}
	}
	return missing
}

// unregistered names our registrations that are not in the garden. gardener-apiserver refuses Shoots that need them.
func (r *run) unregistered(ctx context.Context) []string {
	registrations := &gardencorev1beta1.ControllerRegistrationList{}
	if err := r.garden.List(ctx, registrations); err != nil {
		return []string{"looking for our registrations in the garden: " + err.Error()}
	}
	var missing []string
	for _, name := range r.Registrations {
		if !slices.ContainsFunc(registrations.Items, func(found gardencorev1beta1.ControllerRegistration) bool { return found.Name == name }) {
			missing = append(missing, fmt.Sprintf("the controller of registration %q is missing: the garden has no such ControllerRegistration", name))
		}
	}
	return missing
}

// extensionErrors lists the errors of extension objects.
func (r *run) extensionErrors(ctx context.Context) []string {
	var lines []string
	for _, s := range r.seeds {
		objects, err := extensionObjects(ctx, s.client)
		if err != nil {
			lines = append(lines, "reading the extension objects of seed "+s.Name+": "+err.Error())
		}
		lines = append(lines, checks.Errors(objects)...)
	}
	return lines
}

// facts are those of a seed; nil if no shoot is in it: gardener-controller-manager installs our controllers for shoots only.
func (r *run) facts(ctx context.Context, s *seed) (*checks.Facts, error) {
	shoots, installations, deployments := &gardencorev1beta1.ShootList{}, &gardencorev1beta1.ControllerInstallationList{}, &appsv1.DeploymentList{}
	if err := r.garden.List(ctx, shoots, client.InNamespace(projectNamespace)); err != nil {
		return nil, err
	}
	if !hasShoot(shoots, s.Name) {
		return nil, nil //nolint:nilnil // there is nothing to know
	}
	if err := r.garden.List(ctx, installations); err != nil {
		return nil, err
	}
	if err := s.client.List(ctx, deployments); err != nil {
		return nil, err
	}
	objects, err := extensionObjects(ctx, s.client)
	if err != nil {
		return nil, err
	}
	facts := &checks.Facts{
		Now: r.now(), Seed: s.Name, Installations: installations.Items, Deployments: deployments.Items, Objects: objects,
	}
	for _, name := range r.Registrations {
		facts.Registrations = append(facts.Registrations, checks.Registration{Name: name, Kinds: kindsOf(name)})
	}
	return facts, nil
}

func hasShoot(shoots *gardencorev1beta1.ShootList, seed string) bool {
	for _, shoot := range shoots.Items {
		for _, name := range []*string{shoot.Spec.SeedName, shoot.Status.SeedName} {
			if name != nil && *name == seed {
				return true
			}
		}
	}
	return false
}

// extensionObjects reads all extension objects that our controllers act for.
func extensionObjects(ctx context.Context, seed client.Client) ([]checks.ExtensionObject, error) {
	var objects []checks.ExtensionObject
	for _, list := range []client.ObjectList{
		&extensionsv1alpha1.InfrastructureList{}, &extensionsv1alpha1.ControlPlaneList{}, &extensionsv1alpha1.WorkerList{}, &extensionsv1alpha1.NetworkList{},
	} {
		if err := seed.List(ctx, list); err != nil {
			return nil, err
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if object, is := item.(extensionsv1alpha1.Object); is {
				objects = append(objects, newExtensionObject(object))
			}
		}
	}
	return objects, nil
}

// newExtensionObject reads since when nobody has acted for an object: since gardenlet's request, as long as its annotation is there.
func newExtensionObject(object extensionsv1alpha1.Object) checks.ExtensionObject {
	kind := strings.TrimPrefix(fmt.Sprintf("%T", object), "*v1alpha1.")
	found := checks.ExtensionObject{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()}
	status := object.GetExtensionStatus()
	if last := status.GetLastError(); last != nil {
		found.Error = last.Description
	}
	_, isRequested := object.GetAnnotations()[v1beta1constants.GardenerOperation]
	if isRequested || status.GetLastOperation() == nil {
		found.WaitsSince = object.GetCreationTimestamp().Time
		if at, err := time.Parse(time.RFC3339Nano, object.GetAnnotations()[v1beta1constants.GardenerTimestamp]); err == nil {
			found.WaitsSince = at
		}
	}
	return found
}
