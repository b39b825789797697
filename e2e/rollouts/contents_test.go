package rollouts

import (
	"slices"
	"strings"
	"sync"
	"testing"

	resourcesv1alpha1 "github.com/gardener/gardener/pkg/apis/resources/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	installationv1alpha1 "github.com/trellis-garden/trellis/apis/installation/v1alpha1"
)

// contents is all that has ever arrived in the seeds of an API server: by the name of the installation, each thing once and in the order of its
// first coming.
type contents struct {
	mutex sync.Mutex
	values,
	revisions map[string][]string // of ConfigMaps, and of ManagedResources
}

func newContents(t *testing.T, config *rest.Config) *contents {
	t.Helper()
	c := &contents{values: map[string][]string{}, revisions: map[string][]string{}}
	watchAll(t, config, seedScheme(), &corev1.ConfigMapList{}, func(_ watch.EventType, object client.Object) {
		if content, is := object.(*corev1.ConfigMap); is {
			c.add(c.values, strings.TrimPrefix(content.Namespace, namespaceOf("")), content.Data[contentKey])
		}
	}, client.MatchingLabels{"of": "rollouts"})
	watchAll(t, config, seedScheme(), &resourcesv1alpha1.ManagedResourceList{}, func(_ watch.EventType, object client.Object) {
		c.add(c.revisions, object.GetName(), object.GetAnnotations()[installationv1alpha1.AnnotationRevision])
	}, client.InNamespace(inGarden))
	return c
}

func (c *contents) add(to map[string][]string, installation, what string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !slices.Contains(to[installation], what) {
		to[installation] = append(to[installation], what)
	}
}

// of returns the words and the revisions that an installation ever had.
func (c *contents) of(installation string) (values, revisions []string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Clone(c.values[installation]), slices.Clone(c.revisions[installation])
}
