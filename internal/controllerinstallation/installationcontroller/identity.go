package installationcontroller

import (
	"context"
	"fmt"
	"sync"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// identity is the identity of the garden cluster. It never changes, and is read once.
type identity struct {
	garden client.Reader
	mutex  sync.Mutex
	known  string
}

func newIdentity(garden client.Reader) *identity { return &identity{garden: garden} }

func (i *identity) read(ctx context.Context) (string, error) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if i.known != "" {
		return i.known, nil
	}
	config := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: v1beta1constants.ClusterIdentity}
	if err := i.garden.Get(ctx, key, config); err != nil {
		return "", fmt.Errorf("reading the identity of the garden: %w", err)
	}
	i.known = config.Data[v1beta1constants.ClusterIdentity]
	if i.known == "" {
		return "", fmt.Errorf("reading the identity of the garden: ConfigMap %s has nothing under %q", key, v1beta1constants.ClusterIdentity)
	}
	return i.known, nil
}
