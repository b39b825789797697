// Package shootclient creates clients of the kube-apiserver of a shoot in its seed.
//
// The package must not depend on a contract, or on the purpose of the requests.
package shootclient

import (
	"context"
	"fmt"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/kinds"
)

// keyKubeconfig is the key of a kubeconfig in Gardener's Secrets.
const keyKubeconfig = "kubeconfig"

// New returns a client for the shoot's kube-apiserver with the kubeconfig that gardenlet writes for extensions: that of Secret
// gardener-internal, whose address is inside of the seed. Without it, that of Secret gardener, whose address is outside. gardenlet writes both, and
// Gardener's own library looks for them in this order. The second one is for processes outside of a seed: traffic to the outside costs money,
// and the NetworkPolicies of pods in a seed do not permit it.
//
// The client knows nodes, pods, Events, DaemonSets and Deployments. It reads at most four megabytes of a response. It cannot watch.
func New(ctx context.Context, seed client.Reader, namespace string) (client.Client, error) {
	const internal, external = v1beta1constants.SecretNameGardenerInternal, v1beta1constants.SecretNameGardener
	secret := &corev1.Secret{}
	err := seed.Get(ctx, client.ObjectKey{Namespace: namespace, Name: internal}, secret)
	if apierrors.IsNotFound(err) {
		err = seed.Get(ctx, client.ObjectKey{Namespace: namespace, Name: external}, secret)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of the shoot from Secret %s, or %s outside of a seed: %w", internal, external, err)
	}
	config, err := restConfig(secret.Data[keyKubeconfig])
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig in Secret %s: %w", secret.Name, err)
	}
	config.Wrap(limitResponses)
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	shoot, err := client.New(config, client.Options{Scheme: scheme, Mapper: newRESTMapper()})
	if err != nil {
		return nil, cloud.Errorf(cloud.Unavailable, "reaching the shoot's kube-apiserver: %w", err)
	}
	return shoot, nil
}

// newScheme returns a scheme with the kinds that contracts read in a shoot.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(
		kinds.In(corev1.SchemeGroupVersion, &corev1.Node{}, &corev1.NodeList{}, &corev1.Pod{}, &corev1.PodList{}, &corev1.Event{}, &corev1.EventList{}),
		kinds.In(appsv1.SchemeGroupVersion, &appsv1.DaemonSet{}, &appsv1.Deployment{}),
	)
	if err := builder.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("registering the shoot's kinds: %w", err)
	}
	return scheme, nil
}

// newRESTMapper returns a mapper for these kinds. All API servers have them, so that none is asked for all that it has.
func newRESTMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Event"), meta.RESTScopeNamespace)
	mapper.Add(appsv1.SchemeGroupVersion.WithKind("DaemonSet"), meta.RESTScopeNamespace)
	mapper.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	return mapper
}

// restConfig restricts the kubeconfig to what gardenlet writes: it names no programs to run.
func restConfig(kubeconfig []byte) (*rest.Config, error) {
	parsed, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, err
	}
	for name, user := range parsed.AuthInfos {
		if user.Exec != nil || user.AuthProvider != nil {
			return nil, fmt.Errorf("user %q logs in by a program, which is refused", name)
		}
	}
	return clientcmd.NewDefaultClientConfig(*parsed, &clientcmd.ConfigOverrides{}).ClientConfig()
}
