package controlplane

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
)

// controllerName is the name of the controller, its rights and its namespace.
const controllerName = "controlplane-controller"

// landscape is all that there is in a seed and in the shoot, by "cluster: kind namespace/name".
type landscape map[string]metav1.PartialObjectMetadata

// look lists everything in both clusters that does not come and go by itself: every kind that their API servers know.
func (w *world) look(t *testing.T) landscape {
	t.Helper()
	all := landscape{}
	all.add(t, "seed", w.seed.Config, w.seed.Client)
	all.add(t, "shoot", w.Cluster.Config, w.Cluster.Client)
	return all
}

func (l landscape) add(t *testing.T, cluster string, config *rest.Config, c client.Client) {
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
				if object.Name == controllerName || object.Namespace == controllerName {
					continue // the controller's own
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

// since returns what is not in an earlier landscape, sorted.
func (l landscape) since(before landscape) []string {
	var names []string
	for name := range l {
		if _, there := before[name]; !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// changedSince returns what is also in an earlier landscape, but not as it was, or has been made anew, sorted.
func (l landscape) changedSince(before landscape) []string {
	var names []string
	for name, object := range l {
		if was, there := before[name]; there && was.ResourceVersion != object.ResourceVersion {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// lostSince returns what is also in an earlier landscape under another UID, or is there no longer, sorted.
func (l landscape) lostSince(before landscape) []string {
	var names []string
	for name, was := range before {
		if object, there := l[name]; !there || object.UID != was.UID {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// seedWithShootOf returns what there is in the seed, and what there was in the shoot in another landscape.
func (l landscape) seedWithShootOf(other landscape) landscape {
	both := landscape{}
	for _, name := range ofSeed(slices.Collect(maps.Keys(l))) {
		both[name] = l[name]
	}
	for _, name := range ofShoot(slices.Collect(maps.Keys(other))) {
		both[name] = other[name]
	}
	return both
}

// ofSeed picks what is in the seed, ofShoot what is in the shoot.
func ofSeed(names []string) []string { return beginningWith("seed: ", names) }

func ofShoot(names []string) []string { return beginningWith("shoot: ", names) }

func beginningWith(prefix string, names []string) []string {
	var picked []string
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			picked = append(picked, name)
		}
	}
	return picked
}
