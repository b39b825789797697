package networktest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/gardener/gardener/pkg/resourcemanager/controller/garbagecollector/references"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
	"github.com/trellis-garden/trellis/internal/network"
)

func resourceShoot(networkType string) string {
	return "extension-networking-" + networkType + "-config"
}

func resourceSeed(networkType string) string { return "extension-networking-" + networkType + "-seed" }

// annotationHibernated on the ManagedResource of a shoot records that it is hibernated.
const annotationHibernated = "network.trellis.garden/hibernated"

// networkState is what status.state says.
type networkState struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Form       json.RawMessage `json:"form"`
	Stage      *struct {
		Name string       `json:"name"`
		Gate network.Gate `json:"gate"`
	} `json:"stage"`
}

func readState(object *extensionsv1alpha1.Network) (networkState, error) {
	var state networkState
	if object.Status.State == nil {
		return state, fmt.Errorf("object %s keeps no state", object.Name)
	}
	if err := json.Unmarshal(object.Status.State.Raw, &state); err != nil {
		return state, fmt.Errorf("reading the state of Network %s: %w", object.Name, err)
	}
	var form any
	if err := json.Unmarshal(state.Form, &form); err != nil {
		return state, fmt.Errorf("reading the form in the state of Network %s: %w", object.Name, err)
	}
	state.Form = encodeJSON(form) // with its fields in order
	return state, nil
}

// content is everything that is deployed, without the name of the namespace.
type content struct {
	// Shoot and Seed are manifests by file.
	Shoot, Seed map[string]string
	// Form is that of the state.
	Form string
	// Status is status.providerStatus.
	Status string
	// Families are those of the status.
	Families []extensionsv1alpha1.IPFamily
	// InShoot and InSeed are what is there.
	InShoot, InSeed []string
}

// inspector compares what is in one namespace and its shoot with what must be there.
type inspector struct {
	client      client.Client
	networkType string
	namespace   string
	manager     *contracttest.ResourceManager
	shoot       *shoot
	// given are the Secrets that existed before.
	given []string
}

// read reads what is deployed.
func (i *inspector) read(ctx context.Context) (*content, networkState, error) {
	object := &extensionsv1alpha1.Network{}
	if err := i.client.Get(ctx, client.ObjectKey{Namespace: i.namespace, Name: name}, object); err != nil {
		return nil, networkState{}, err
	}
	state, err := readState(object)
	if err != nil {
		return nil, networkState{}, err
	}
	c := &content{Form: string(state.Form), Families: object.Status.IPFamilies, InShoot: i.allWithoutNamespace(keys(i.manager.Shoot())), InSeed: i.allWithoutNamespace(keys(i.manager.Seed()))}
	if object.Status.ProviderStatus != nil {
		c.Status = string(object.Status.ProviderStatus.Raw)
	}
	if c.Shoot, err = i.manifests(ctx, resourceShoot(i.networkType)); err != nil {
		return nil, state, err
	}
	c.Seed, err = i.manifests(ctx, resourceSeed(i.networkType))
	return c, state, err
}

func keys(record *contracttest.ObjectTracker) []string {
	var all []string
	for _, key := range record.Keys() {
		all = append(all, fmt.Sprintf("%s %s/%s", key.Kind, key.Namespace, key.Name))
	}
	return all
}

// manifests reads the files of a ManagedResource, nil if there is none.
func (i *inspector) manifests(ctx context.Context, name string) (map[string]string, error) {
	resource := &resourcesv1alpha1.ManagedResource{}
	if err := i.client.Get(ctx, client.ObjectKey{Namespace: i.namespace, Name: name}, resource); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	files := map[string]string{}
	for _, ref := range resource.Spec.SecretRefs {
		secret := &corev1.Secret{}
		if err := i.client.Get(ctx, client.ObjectKey{Namespace: i.namespace, Name: ref.Name}, secret); err != nil {
			return nil, fmt.Errorf("reading the manifests of %s: %w", name, err)
		}
		for file, manifest := range secret.Data {
			files[i.withoutNamespace(file)] = i.withoutNamespace(string(manifest))
		}
	}
	return files, nil
}

// withoutNamespace takes the name of the namespace out of a text.
func (i *inspector) withoutNamespace(text string) string {
	return string(bytes.ReplaceAll([]byte(text), []byte(i.namespace), []byte("{namespace}")))
}

func (i *inspector) allWithoutNamespace(texts []string) []string {
	var all []string
	for _, text := range texts {
		all = append(all, i.withoutNamespace(text))
	}
	return all
}

// checkReady returns what is wrong while the Network is there.
func (i *inspector) checkReady(ctx context.Context) []string {
	if err := i.manager.CollectGarbage(ctx); err != nil {
		return []string{err.Error()}
	}
	resources, secrets, err := i.list(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	violations := slices.Concat(i.manager.Violations(), i.shoot.violations())
	var names []string
	used := slices.Clone(i.given)
	for _, resource := range resources {
		names = append(names, resource.Name)
		violations = append(violations, checkManagedResource(&resource, resource.Name == resourceSeed(i.networkType))...)
		for _, ref := range resource.Spec.SecretRefs {
			used = append(used, ref.Name)
		}
	}
	if want := []string{resourceShoot(i.networkType), resourceSeed(i.networkType)}; !slices.Equal(names, want) {
		violations = append(violations, fmt.Sprintf("the ManagedResources are %q instead of %q", names, want))
	}
	for _, secret := range secrets {
		if !slices.Contains(used, secret.Name) {
			violations = append(violations, fmt.Sprintf("nobody needs Secret %s", secret.Name))
		}
	}
	return violations
}

func checkManagedResource(resource *resourcesv1alpha1.ManagedResource, ofSeed bool) []string {
	var violations []string
	violate := func(wrong bool, what string) {
		if wrong {
			violations = append(violations, fmt.Sprintf("ManagedResource %s %s", resource.Name, what))
		}
	}
	violate(!resource.DeletionTimestamp.IsZero(), "is being deleted")
	violate(resource.Spec.KeepObjects == nil || *resource.Spec.KeepObjects, "would leave its objects behind")
	violate(contracttest.IsOfSeed(resource) != ofSeed, "is of the wrong class")
	violate((resource.Spec.InjectLabels[v1beta1constants.ShootNoCleanup] == "true") == ofSeed,
		"keeps gardenlet from cleaning up the seed, or does not keep it from cleaning up the shoot")
	violate(len(resource.Spec.SecretRefs) != 1, "does not refer to one Secret")
	for _, ref := range resource.Spec.SecretRefs {
		violate(resource.Annotations[references.AnnotationKey(references.KindSecret, ref.Name)] != ref.Name, "would lose its Secret to the collector")
	}
	return violations
}

// checkGone returns what is left when the Network is gone, before any garbage collection.
func (i *inspector) checkGone(ctx context.Context) []string {
	violations := i.manager.Violations()
	for _, key := range slices.Concat(keys(i.manager.Seed()), keys(i.manager.Shoot())) {
		violations = append(violations, "left behind: "+key)
	}
	return append(violations, i.leftovers(ctx)...)
}

// leftovers returns the ManagedResources and Secrets that should not exist.
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
		if !slices.Contains(i.given, secret.Name) {
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

// differences returns the differences from what is wanted, as sentences.
func (c *content) differences(wanted *content) []string {
	violations := slices.Concat(
		differingFiles("in the shoot", c.Shoot, wanted.Shoot), differingFiles("in the seed", c.Seed, wanted.Seed),
		differingKeys("the shoot", c.InShoot, wanted.InShoot), differingKeys("the seed", c.InSeed, wanted.InSeed),
	)
	if c.Form != wanted.Form {
		violations = append(violations, fmt.Sprintf("the form is %s instead of %s", c.Form, wanted.Form))
	}
	if c.Status != wanted.Status {
		violations = append(violations, fmt.Sprintf("the status is %s instead of %s", c.Status, wanted.Status))
	}
	if !slices.Equal(c.Families, wanted.Families) {
		violations = append(violations, fmt.Sprintf("the families are %q instead of %q", c.Families, wanted.Families))
	}
	return violations
}

func differingFiles(where string, got, wanted map[string]string) []string {
	var violations []string
	all := maps.Clone(wanted)
	maps.Copy(all, got)
	for _, file := range slices.Sorted(maps.Keys(all)) {
		if got[file] != wanted[file] {
			violations = append(violations, fmt.Sprintf("%s %s differs: %s", where, file, difference([]byte(got[file]), []byte(wanted[file]))))
		}
	}
	return violations
}

func differingKeys(where string, got, wanted []string) []string {
	var violations []string
	for _, key := range got {
		if !slices.Contains(wanted, key) {
			violations = append(violations, fmt.Sprintf("there is one too many in %s: %s", where, key))
		}
	}
	for _, key := range wanted {
		if !slices.Contains(got, key) {
			violations = append(violations, fmt.Sprintf("one is missing in %s: %s", where, key))
		}
	}
	return violations
}
