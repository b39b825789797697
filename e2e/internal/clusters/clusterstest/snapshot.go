package clusterstest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/e2e/internal/clusters"
	"github.com/trellis-garden/trellis/e2e/internal/shoot"
)

// Snapshot has all objects of a seed and of the shoot, by "cluster: kind namespace/name".
type Snapshot map[string]metav1.PartialObjectMetadata

// TakeSnapshot lists the objects of all kinds in both clusters, without transient kinds, and without objects that belong to a controller by
// name, namespace or chart.
func TakeSnapshot(t *testing.T, seed *clusters.Seed, cluster *shoot.Cluster, controller string) Snapshot {
	t.Helper()
	all := Snapshot{}
	all.add(t, "seed", seed.Config, seed.Client, controller)
	all.add(t, "shoot", cluster.Config, cluster.Client, controller)
	return all
}

func (s Snapshot) add(t *testing.T, cluster string, config *rest.Config, c client.Client, controller string) {
	t.Helper()
	resources, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerPreferredResources()
	require.NoError(t, err)
	for _, group := range resources {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		require.NoError(t, err)
		for _, resource := range group.APIResources {
			if !slices.Contains(resource.Verbs, "list") || isTransient(resource.Kind) {
				continue
			}
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(version.WithKind(resource.Kind + "List"))
			require.NoError(t, c.List(t.Context(), list))
			for _, object := range list.Items {
				if object.Name == controller || object.Namespace == controller || object.Labels["app.kubernetes.io/instance"] == controller {
					continue
				}
				s[fmt.Sprintf("%s: %s %s/%s", cluster, resource.Kind, object.Namespace, object.Name)] = object
			}
		}
	}
}

// isTransient reports whether objects of a kind are records of events, or derived from others.
func isTransient(kind string) bool {
	return slices.Contains([]string{"Event", "Lease", "Pod", "ReplicaSet", "ControllerRevision", "Endpoints", "EndpointSlice", "ComponentStatus"}, kind)
}

// AddedSince returns the objects that an earlier snapshot has not, sorted.
func (s Snapshot) AddedSince(before Snapshot) []string {
	var names []string
	for name := range s {
		if _, exists := before[name]; !exists {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// ChangedSince returns the objects that an earlier snapshot has with other content or another UID, sorted.
func (s Snapshot) ChangedSince(before Snapshot) []string {
	var names []string
	for name, object := range s {
		if was, exists := before[name]; exists && was.ResourceVersion != object.ResourceVersion {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// RemovedSince returns the objects of an earlier snapshot that do not exist any more, or have another UID, sorted.
func (s Snapshot) RemovedSince(before Snapshot) []string {
	var names []string
	for name, was := range before {
		if object, exists := s[name]; !exists || object.UID != was.UID {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// SeedWithShootOf combines the objects of the seed with the shoot's objects in another snapshot.
func (s Snapshot) SeedWithShootOf(other Snapshot) Snapshot {
	both := Snapshot{}
	for _, name := range InSeed(slices.Collect(maps.Keys(s))) {
		both[name] = s[name]
	}
	for _, name := range InShoot(slices.Collect(maps.Keys(other))) {
		both[name] = other[name]
	}
	return both
}

// InSeed returns the objects in the seed.
func InSeed(names []string) []string { return withPrefix("seed: ", names) }

// InShoot returns the objects in the shoot.
func InShoot(names []string) []string { return withPrefix("shoot: ", names) }

func withPrefix(prefix string, names []string) []string {
	var picked []string
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			picked = append(picked, name)
		}
	}
	return picked
}
