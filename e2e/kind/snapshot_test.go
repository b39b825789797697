//go:build kind

package kind

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/kindseed"
)

// objectKey identifies an object of any kind.
type objectKey struct{ Resource, Namespace, Name string }

func (o objectKey) String() string { return o.Resource + " " + o.Namespace + "/" + o.Name }

// objectVersion has the properties of an object that a change affects.
type objectVersion struct {
	UID             types.UID
	ResourceVersion string
}

// snapshot are all objects in the cluster.
type snapshot map[objectKey]objectVersion

// takeSnapshot lists all objects of all kinds, except Events, which expire.
func (env *environment) takeSnapshot(t *testing.T) snapshot {
	t.Helper()
	kinds, err := discovery.NewDiscoveryClientForConfigOrDie(env.Config).ServerPreferredResources()
	require.NoError(t, err)
	reader, err := metadata.NewForConfig(env.Config)
	require.NoError(t, err)
	found := snapshot{}
	for _, group := range kinds {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		require.NoError(t, err)
		for _, kind := range group.APIResources {
			if !slices.Contains(kind.Verbs, "list") || kind.Name == "events" || kind.Name == "componentstatuses" {
				continue
			}
			list, err := reader.Resource(version.WithResource(kind.Name)).List(t.Context(), metav1.ListOptions{})
			if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
				continue
			}
			require.NoError(t, err, "listing %s", kind.Name)
			for _, item := range list.Items {
				found.add(version.WithResource(kind.Name).GroupResource().String(), &item)
			}
		}
	}
	return found
}

func (e snapshot) add(resource string, item *metav1.PartialObjectMetadata) {
	e[objectKey{resource, item.Namespace, item.Name}] = objectVersion{item.UID, item.ResourceVersion}
}

// outside returns the objects outside a namespace.
func (e snapshot) outside(namespace string) snapshot {
	rest := maps.Clone(e)
	maps.DeleteFunc(rest, func(object objectKey, _ objectVersion) bool { return object.Namespace == namespace })
	return rest
}

// without returns the objects that are not in another snapshot.
func (e snapshot) without(other snapshot) []objectKey {
	var missing []objectKey
	for object := range e {
		if _, there := other[object]; !there {
			missing = append(missing, object)
		}
	}
	slices.SortFunc(missing, func(a, b objectKey) int { return strings.Compare(a.String(), b.String()) })
	return missing
}

// changed returns the objects in both that differ. For objects that change regularly, or that describe others, existence is enough.
func (e snapshot) changed(other snapshot) []objectKey {
	var changed []objectKey
	for object, before := range e {
		now, there := other[object]
		isReport := object.Resource == "leases.coordination.k8s.io" || object.Resource == "managedresources.resources.gardener.cloud"
		if there && (now.UID != before.UID || now != before && !isReport) {
			changed = append(changed, object)
		}
	}
	slices.SortFunc(changed, func(a, b objectKey) int { return strings.Compare(a.String(), b.String()) })
	return changed
}

// ownedObjects identifies the objects of one installation of a controller.
type ownedObjects struct {
	installation string
	binary       string
	// named are those whose names do not identify the controller: the chart's objects, and the endpoints of its Services.
	named map[objectKey]bool
}

// ownedObjects reads the objects of an installation.
func (env *environment) ownedObjects(t *testing.T, binary string) ownedObjects {
	t.Helper()
	installation, err := env.Installation(t.Context(), binary)
	require.NoError(t, err)
	require.NotNil(t, installation)
	p := ownedObjects{installation: installation.Name, binary: binary, named: map[objectKey]bool{}}
	managed := &resourcesv1alpha1.ManagedResource{}
	key := client.ObjectKey{Namespace: v1beta1constants.GardenNamespace, Name: installation.Name}
	require.NoError(t, env.Client.Get(t.Context(), key, managed))
	require.NotEmpty(t, managed.Status.Resources)
	for _, reference := range managed.Status.Resources {
		mapping, err := env.Client.RESTMapper().RESTMapping(reference.GroupVersionKind().GroupKind(), reference.GroupVersionKind().Version)
		require.NoError(t, err)
		p.named[objectKey{mapping.Resource.GroupResource().String(), reference.Namespace, reference.Name}] = true
	}
	services := &corev1.ServiceList{}
	require.NoError(t, env.Client.List(t.Context(), services, client.InNamespace(p.namespace())))
	for _, service := range services.Items {
		p.named[objectKey{"ipaddresses.networking.k8s.io", "", service.Spec.ClusterIP}] = true
	}
	return p
}

func (p ownedObjects) namespace() string {
	return v1beta1constants.GardenRoleExtension + "-" + p.installation
}

// contain reports whether an object belongs to it: part of the chart, or created by the controller or by Gardener for it.
func (p ownedObjects) contain(object objectKey) bool {
	return p.named[object] || object.Namespace == p.namespace() ||
		strings.Contains(object.Name, p.installation) || strings.Contains(object.Name, kindseed.ObjectName(p.binary))
}

// of returns those that exist.
func (p ownedObjects) of(all snapshot) snapshot {
	found := maps.Clone(all)
	maps.DeleteFunc(found, func(object objectKey, _ objectVersion) bool { return !p.contain(object) })
	return found
}

// requireOnlyThese requires that exactly these objects are gone, that none were added, and that those of other controllers are unchanged.
func (p ownedObjects) requireOnlyThese(t *testing.T, before, after snapshot, others ...ownedObjects) {
	t.Helper()
	var unexpected []objectKey
	gone := before.without(after)
	for _, object := range gone {
		if !p.contain(object) {
			unexpected = append(unexpected, object)
		}
	}
	assert.Empty(t, unexpected, "these have gone with %s and are none of its objects", p.binary)
	assert.Empty(t, p.of(after), "these should have gone with %s", p.binary)
	for object := range p.named {
		assert.Contains(t, gone, object, "this was never there")
	}
	assert.Empty(t, after.without(before), "these have come")
	for _, other := range others {
		there := other.of(before)
		assert.NotEmpty(t, there)
		assert.Empty(t, there.changed(other.of(after)), "objects of %s have changed", other.binary)
	}
	t.Logf("with %s went %d objects, %d of them of its chart: %s", p.binary, len(gone), len(p.named), summary(gone))
}

// summary counts objects by kind.
func summary(things []objectKey) string {
	counts := map[string]int{}
	for _, object := range things {
		counts[object.Resource]++
	}
	var words []string
	for _, resource := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%d %s", counts[resource], resource))
	}
	return strings.Join(words, ", ")
}

// kept lists the objects that all installations of a controller have, by names without random parts and hashes.
func (p ownedObjects) kept(all snapshot) []string {
	var names []string
	for object := range p.of(all) {
		switch object.Resource {
		case "pods", "replicasets.apps", "endpoints", "endpointslices.discovery.k8s.io", "ipaddresses.networking.k8s.io":
			continue
		}
		name := strings.ReplaceAll(object.String(), p.installation, "installation")
		names = append(names, regexp.MustCompile(`-[0-9a-f]{8}$`).ReplaceAllString(name, ""))
	}
	slices.Sort(names)
	return names
}
