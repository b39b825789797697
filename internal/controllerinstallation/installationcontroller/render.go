package installationcontroller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
	"github.com/trellis-garden/trellis/apis/installation/validation"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/chart"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/problem"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/rendering"
	"github.com/trellis-garden/trellis/internal/controllerinstallation/workload"
	"github.com/trellis-garden/trellis/internal/fielderrors"
)

// render renders the assigned revision for this seed. It reads from the seed, and writes nothing.
func (r *reconciler) render(ctx context.Context, rec *reconciliation) (*rendered, error) {
	if err := checkName(rec.installation); err != nil {
		return nil, err
	}
	if err := r.checkRegistration(ctx, rec.installation.Spec.RegistrationRef.Name); err != nil {
		return nil, err
	}
	loaded, err := r.assigner.loadRevision(ctx, rec.installation, rec.assignment.revision)
	if err != nil {
		return nil, err
	}
	if err = r.connectSeed(ctx, rec); err != nil {
		return nil, err
	}
	result := &rendered{garden: r.Garden, installation: workload.Installation{
		Name: rec.installation.Name, Registration: rec.installation.Spec.RegistrationRef.Name, Seed: rec.seed,
		PodSecurity:            rec.installation.Annotations[v1beta1constants.AnnotationPodSecurityEnforce],
		InjectGardenKubeconfig: loaded.content.InjectGardenKubeconfig, Revision: rec.assignment.revision,
	}}
	if result.garden.Identity, err = r.identity.read(ctx); err != nil {
		return nil, err
	}
	if result.seedFacts, err = workload.ReadSeedFacts(ctx, rec.cluster); err != nil {
		return nil, asSeedError(fmt.Errorf("looking around in the seed: %w", err))
	}
	request, err := r.request(ctx, loaded, result)
	if err != nil {
		return nil, err
	}
	request.Release = chart.Release{
		Name: result.installation.Registration, Namespace: workload.Namespace(rec.installation.Name), KubernetesVersion: rec.cluster.KubernetesVersion,
	}
	if result.objects, err = r.renderObjects(ctx, request); err != nil {
		return nil, err
	}
	return result, r.complete(rec, result)
}

// renderObjects renders with a timeout that leaves time for requests to the seed, which would fail otherwise when rendering is slow on a busy machine.
func (r *reconciler) renderObjects(ctx context.Context, request *rendering.Request) ([]*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, r.renderTimeout())
	defer cancel()
	return r.renderer.Render(ctx, request)
}

func (r *reconciler) checkRegistration(ctx context.Context, name string) error {
	registration := &metav1.PartialObjectMetadata{}
	registration.SetGroupVersionKind(gardencorev1beta1.SchemeGroupVersion.WithKind("ControllerRegistration"))
	err := r.Client.Get(ctx, client.ObjectKey{Name: name}, registration)
	if apierrors.IsNotFound(err) {
		return problem.New(problem.RegistrationNotFound, fmt.Sprintf("there is no ControllerRegistration %s: create it", name))
	}
	if err != nil {
		return fmt.Errorf("reading ControllerRegistration %s: %w", name, err)
	}
	return nil
}

// request returns the input for rendering: the values of the deployment, merged with those of overlays that select the seed, and with Gardener's own values.
func (r *reconciler) request(ctx context.Context, loaded *loadedRevision, into *rendered) (*rendering.Request, error) {
	values, err := decodeValues(loaded.content.Values)
	if err != nil {
		return nil, err
	}
	// A stored revision may be older than the rule that overlays with Secrets must name their seeds.
	if err := fielderrors.Error(validation.ValidateOverlaySecrets(
		loaded.content.ValuesOverlays, loaded.content.Resources, field.NewPath("valuesOverlays"),
	)); err != nil {
		return nil, problem.New(problem.ProviderConfigInvalid, err.Error())
	}
	for _, overlay := range loaded.content.ValuesOverlays {
		selects, err := selects(overlay, into.installation.Seed)
		if err != nil {
			return nil, err
		}
		if !selects {
			continue
		}
		over, err := decodeValues(overlay.Values.Raw)
		if err != nil {
			return nil, err
		}
		values = workload.MergeValues(values, over)
	}
	request := &rendering.Request{Archive: loaded.content.Chart, Values: values}
	if len(loaded.content.Resources) > 0 {
		if request.Resources, err = workload.ResolveResources(ctx, r.Client, v1beta1constants.GardenNamespace, loaded.content.Resources); err != nil {
			return nil, err
		}
	}
	if request.Gardener, err = workload.Values(into.installation, into.garden, into.seedFacts); err != nil {
		return nil, err
	}
	return request, nil
}

func decodeValues(raw []byte) (map[string]any, error) {
	values := map[string]any{}
	if len(raw) == 0 {
		return values, nil
	}
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, problem.New(problem.ProviderConfigInvalid, fmt.Sprintf("values: %v", err))
	}
	return values, nil
}

func selects(overlay installationv1alpha1.ValuesOverlay, seed *gardencorev1beta1.Seed) (bool, error) {
	if len(overlay.SeedNames) > 0 {
		return slices.Contains(overlay.SeedNames, seed.Name), nil
	}
	selector, err := metav1.LabelSelectorAsSelector(overlay.SeedSelector)
	if err != nil {
		return false, problem.New(problem.ProviderConfigInvalid, fmt.Sprintf("seedSelector of overlay %q: %v", overlay.Name, err))
	}
	return selector.Matches(labels.Set(seed.Labels)), nil
}

// complete changes the objects as gardenlet would. Access to the garden requires a gardenlet, which writes the token.
func (r *reconciler) complete(rec *reconciliation, into *rendered) error {
	gardenAccess, err := workload.Complete(into.installation, into.garden, into.objects)
	if err != nil {
		return err
	}
	if gardenAccess && !hasGardenlet(rec.seed) {
		return problem.New(problem.GardenAccessNeedsGardenlet, fmt.Sprintf("injectGardenKubeconfig: pods would wait for ever for a token of the garden, "+
			"which gardenlet provides, and Seed %s has none; switch it off, or run a gardenlet", rec.seed.Name))
	}
	return nil
}

// hasGardenlet reports whether a gardenlet has ever served the seed.
func hasGardenlet(seed *gardencorev1beta1.Seed) bool {
	return v1beta1helper.GetCondition(seed.Status.Conditions, gardencorev1beta1.GardenletReady) != nil
}
