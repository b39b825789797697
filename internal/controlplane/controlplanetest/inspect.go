package controlplanetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	secretsutils "github.com/gardener/gardener/pkg/utils/secrets"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

// expectation is what a complete control plane consists of, learned from the first run, in which nothing goes wrong.
type expectation struct {
	mutex   sync.Mutex
	objects []string
}

// check holds the objects in seed and shoot against the expectation.
func (e *expectation) check(objects []string) []string {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.objects == nil {
		e.objects = objects
	}
	var violations []string
	for _, object := range objects {
		if !slices.Contains(e.objects, object) {
			violations = append(violations, "there is one too many: "+object)
		}
	}
	for _, object := range e.objects {
		if !slices.Contains(objects, object) {
			violations = append(violations, "one is missing: "+object)
		}
	}
	return violations
}

// inspector holds what is in one namespace and its shoot against what must be there.
type inspector struct {
	client    client.Client
	namespace string
	subject   Subject
	manager   *contracttest.ResourceManager
	expected  *expectation
	// existing are the Secrets that were there before.
	existing []string
	// identity is whose certificates they are, and outlives the seed.
	identity *identity
}

// secretNames names the Secrets among objects.
func secretNames(objects []client.Object) []string {
	var names []string
	for _, object := range objects {
		if secret, ok := object.(*corev1.Secret); ok {
			names = append(names, secret.Name)
		}
	}
	return names
}

// processExisting has the resource manager act upon what is there already, and takes note of the CA if there is one.
func (i *inspector) processExisting(ctx context.Context) error {
	if err := i.manager.ReconcileAll(ctx); err != nil {
		return err
	}
	_, secrets, err := i.list(ctx)
	for _, secret := range secrets {
		if i.isAuthority(secret) {
			i.identity.matches(secret.Data[secretsutils.DataKeyCertificateCA])
		}
	}
	return err
}

// inOtherSeed returns an inspector for the same shoot after it has moved.
func (i *inspector) inOtherSeed(server *contracttest.APIServer, namespace string) *inspector {
	moved := *i
	moved.namespace = namespace
	moved.manager = newResourceManager(server, namespace, i.manager.Shoot())
	return &moved
}

// checkReady returns what is wrong when the ControlPlane is ready and its shoot awake.
func (i *inspector) checkReady(ctx context.Context) []string {
	if err := i.manager.CollectGarbage(ctx); err != nil {
		return []string{err.Error()}
	}
	resources, secrets, err := i.list(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	return slices.Concat(i.manager.Violations(), i.checkShoot(), i.checkManagedResources(resources), i.checkSecrets(resources, secrets))
}

// checkGone returns what is left when the ControlPlane is gone and nobody has collected anything.
func (i *inspector) checkGone(ctx context.Context) []string {
	violations := i.manager.Violations()
	for _, record := range []*contracttest.ObjectTracker{i.manager.Seed(), i.manager.Shoot()} {
		for _, key := range record.Keys() {
			if record != i.manager.Shoot() || !slices.Contains(i.subject.Inputs.Kept, key) {
				violations = append(violations, fmt.Sprintf("left behind: %s", key))
			}
		}
	}
	return append(violations, i.leftovers(ctx)...)
}

// leftovers returns the ManagedResources and Secrets that are there and should not.
func (i *inspector) leftovers(ctx context.Context) []string {
	resources, secrets, err := i.list(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	var violations []string
	for _, resource := range resources {
		violations = append(violations, "left behind: ManagedResource "+resource.Name)
	}
	for _, secret := range secrets {
		if !slices.Contains(i.existing, secret.Name) {
			violations = append(violations, "left behind: Secret "+secret.Name)
		}
	}
	return violations
}

func (i *inspector) list(ctx context.Context) ([]resourcesv1alpha1.ManagedResource, []corev1.Secret, error) {
	resources, secrets := &resourcesv1alpha1.ManagedResourceList{}, &corev1.SecretList{}
	if err := i.client.List(ctx, resources, client.InNamespace(i.namespace)); err != nil {
		return nil, nil, fmt.Errorf("listing ManagedResources: %w", err)
	}
	if err := i.client.List(ctx, secrets, client.InNamespace(i.namespace)); err != nil {
		return nil, nil, fmt.Errorf("listing Secrets: %w", err)
	}
	return resources.Items, secrets.Items, nil
}

// checkShoot looks for objects that are missing, that are too many, and that have been deleted although the shoot lives.
func (i *inspector) checkShoot() []string {
	var objects, violations []string
	for _, key := range i.manager.Seed().Keys() {
		objects = append(objects, strings.ReplaceAll(fmt.Sprintf("%s in the seed", key), i.namespace, "{namespace}"))
	}
	for _, key := range i.manager.Shoot().Keys() {
		objects = append(objects, fmt.Sprintf("%s in the shoot", key))
	}
	for _, key := range i.subject.Inputs.Retired {
		if i.manager.Shoot().Get(key.Kind, key.Name) != nil {
			violations = append(violations, fmt.Sprintf("it is still there: %s", key))
		}
	}
	for _, deletion := range i.manager.Shoot().Deletions() {
		if !i.mayBeDeleted(deletion) {
			violations = append(violations, "from a living shoot somebody "+deletion)
		}
	}
	return append(violations, i.expected.check(objects)...)
}

// mayBeDeleted reports whether an object may be deleted from a living shoot: those that are retired, and webhooks, whose servers a migration stops.
func (i *inspector) mayBeDeleted(deletion string) bool {
	isRetired := slices.ContainsFunc(i.subject.Inputs.Retired, func(key contracttest.Key) bool { return deletion == "deleted "+key.String() })
	return isRetired || i.subject.Inputs.Webhooks && strings.Contains(deletion, "WebhookConfiguration ")
}

// checkManagedResources looks at their number and at what each of them says.
func (i *inspector) checkManagedResources(resources []resourcesv1alpha1.ManagedResource) []string {
	var names, violations []string
	for _, resource := range resources {
		names = append(names, resource.Name)
		violations = append(violations, checkManagedResource(&resource)...)
	}
	slices.Sort(names)
	want := []string{Seed, ShootObjects, ShootCRDs, StorageClasses}
	if i.subject.Inputs.Webhooks {
		want = []string{Seed, ShootObjects, ShootCRDs, ShootWebhooks, StorageClasses}
	}
	if !slices.Equal(names, want) {
		violations = append(violations, fmt.Sprintf("the ManagedResources are %q instead of %q", names, want))
	}
	return violations
}

func checkManagedResource(resource *resourcesv1alpha1.ManagedResource) []string {
	var violations []string
	violate := func(what string) {
		violations = append(violations, fmt.Sprintf("ManagedResource %s %s", resource.Name, what))
	}
	if !resource.DeletionTimestamp.IsZero() {
		violate("is being deleted")
	}
	if keep := resource.Spec.KeepObjects; keep == nil || *keep {
		violate("would leave its objects behind")
	}
	if contracttest.IsOfSeed(resource) != (resource.Name == Seed) {
		violate("is of the wrong class")
	}
	if (resource.Spec.InjectLabels[v1beta1constants.ShootNoCleanup] == "true") == contracttest.IsOfSeed(resource) {
		violate("keeps gardenlet from cleaning up the seed, or does not keep it from cleaning up the shoot")
	}
	if len(resource.Spec.SecretRefs) != 1 {
		violate(fmt.Sprintf("refers to %d Secrets", len(resource.Spec.SecretRefs)))
	}
	for _, ref := range resource.Spec.SecretRefs {
		if resource.Annotations[references.AnnotationKey(references.KindSecret, ref.Name)] != ref.Name {
			violate("would lose its Secret to the collector")
		}
	}
	return violations
}
