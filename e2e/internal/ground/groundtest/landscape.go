package groundtest

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

	"github.com/trellis-garden/trellis/e2e/internal/ground"
	"github.com/trellis-garden/trellis/e2e/internal/shoot"
)

// Landscape is all that there is in a seed and in the shoot, by "cluster: kind namespace/name".
type Landscape map[string]metav1.PartialObjectMetadata

// Look lists everything in both clusters that does not come and go by itself: every kind that their API servers know. What has
// the name or the namespace of a controller, or comes of its chart, is left out.
func Look(t *testing.T, seed *ground.Seed, cluster *shoot.Cluster, controller string) Landscape {
	t.Helper()
	all := Landscape{}
	all.add(t, "seed", seed.Config, seed.Client, controller)
	all.add(t, "shoot", cluster.Config, cluster.Client, controller)
	return all
}

func (l Landscape) add(t *testing.T, cluster string, config *rest.Config, c client.Client, controller string) {
	t.Helper()
	served, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerPreferredResources()
	require.NoError(t, err)
	for _, group := range served {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		require.NoError(t, err)
		for _, resource := range group.APIResources {
			if !slices.Contains(resource.Verbs, "list") || comesAndGoes(resource.Kind) {
				continue
			}
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(version.WithKind(resource.Kind + "List"))
			require.NoError(t, c.List(t.Context(), list))
			for _, object := range list.Items {
				if object.Name == controller || object.Namespace == controller || object.Labels["app.kubernetes.io/instance"] == controller {
					continue
				}
				l[fmt.Sprintf("%s: %s %s/%s", cluster, resource.Kind, object.Namespace, object.Name)] = object
			}
		}
	}
}

// comesAndGoes tells of kinds that say what happens and not what there is, or that follow from others.
func comesAndGoes(kind string) bool {
	return slices.Contains([]string{"Event", "Lease", "Pod", "ReplicaSet", "ControllerRevision", "Endpoints", "EndpointSlice", "ComponentStatus"}, kind)
}

// Since returns what is not in an earlier landscape, sorted.
func (l Landscape) Since(before Landscape) []string {
	var names []string
	for name := range l {
		if _, there := before[name]; !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// ChangedSince returns what is also in an earlier landscape, but not as it was, or has been made anew, sorted.
func (l Landscape) ChangedSince(before Landscape) []string {
	var names []string
	for name, object := range l {
		if was, there := before[name]; there && was.ResourceVersion != object.ResourceVersion {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// LostSince returns what is also in an earlier landscape under another UID, or is there no longer, sorted.
func (l Landscape) LostSince(before Landscape) []string {
	var names []string
	for name, was := range before {
		if object, there := l[name]; !there || object.UID != was.UID {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// SeedWithShootOf returns what there is in the seed, and what there was in the shoot in another landscape.
func (l Landscape) SeedWithShootOf(other Landscape) Landscape {
	both := Landscape{}
	for _, name := range OfSeed(slices.Collect(maps.Keys(l))) {
		both[name] = l[name]
	}
	for _, name := range OfShoot(slices.Collect(maps.Keys(other))) {
		both[name] = other[name]
	}
	return both
}

// OfSeed picks what is in the seed.
func OfSeed(names []string) []string { return beginningWith("seed: ", names) }

// OfShoot picks what is in the shoot.
func OfShoot(names []string) []string { return beginningWith("shoot: ", names) }

func beginningWith(prefix string, names []string) []string {
	var picked []string
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			picked = append(picked, name)
		}
	}
	return picked
}
