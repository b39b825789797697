package gardenlet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/component/extensions/controlplane"
	"github.com/gardener/gardener/pkg/component/gardener/access"
	"github.com/gardener/gardener/pkg/utils/gardener/shootstate"
	"github.com/gardener/gardener/pkg/utils/gardener/tokenrequest"
	kubernetesutils "github.com/gardener/gardener/pkg/utils/kubernetes"
	"github.com/gardener/gardener/pkg/utils/secrets"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// APIServer is a shoot's API server from the view of clients.
type APIServer struct {
	URL string
	// CA is in PEM.
	CA []byte
}

// ControlPlane returns gardenlet's component for the shoot's ControlPlane; see Infrastructure.
func (g *Gardenlet) ControlPlane(shoot *Shoot) controlplane.Interface {
	return controlplane.New(logr.Discard(), g.Seed, &controlplane.Values{
		Namespace: shoot.Namespace(), Name: shoot.Name, Type: shoot.ProviderType, Region: shoot.Region,
		ProviderConfig: raw(shoot.ControlPlaneConfig), InfrastructureProviderStatus: raw(shoot.InfrastructureStatus),
	}, g.Interval, g.SevereThreshold, g.Timeout)
}

// GetControlPlane reads the shoot's ControlPlane.
func (g *Gardenlet) GetControlPlane(ctx context.Context, shoot *Shoot) (*extensionsv1alpha1.ControlPlane, error) {
	object := &extensionsv1alpha1.ControlPlane{}
	err := g.Seed.Get(ctx, client.ObjectKey{Namespace: shoot.Namespace(), Name: shoot.Name}, object)
	return object, err
}

// PrepareControlPlane creates or updates, after Prepare, what gardenlet deploys before the shoot's ControlPlane: the Deployment of the API
// server, the generic kubeconfig, and kubeconfigs with Gardener's own tokens. The shoot's gardener-resource-manager must run, since it issues
// the tokens.
func (g *Gardenlet) PrepareControlPlane(ctx context.Context, shoot *Shoot, apiServer APIServer) error {
	deployment := apiServerDeployment(shoot.Namespace())
	if g.APIServer != nil {
		g.APIServer(shoot, &deployment.Spec.Template)
	}
	if _, err := controllerutil.CreateOrPatch(ctx, g.Seed, deployment, func() error { return nil }); err != nil {
		return fmt.Errorf("preparing the API server's Deployment of shoot %s: %w", shoot.Name, err)
	}
	manager, err := g.secretsManager(ctx, shoot, apiServer)
	if err != nil {
		return err
	}
	kubeconfig, err := tokenrequest.GenerateGenericTokenKubeconfig(ctx, manager, shoot.Namespace(), apiServer.URL)
	if err != nil {
		return fmt.Errorf("preparing the generic kubeconfig of shoot %s: %w", shoot.Name, err)
	}
	cluster := &extensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: shoot.Namespace()}}
	if _, err := controllerutil.CreateOrPatch(ctx, g.Seed, cluster, func() error {
		metav1.SetMetaDataAnnotation(&cluster.ObjectMeta, v1beta1constants.AnnotationKeyGenericTokenKubeconfigSecretName, kubeconfig.Name)
		return nil
	}); err != nil {
		return fmt.Errorf("naming the generic kubeconfig in the Cluster of shoot %s: %w", shoot.Name, err)
	}
	return g.prepareAccess(ctx, shoot, apiServer, manager)
}

// RestoreSecrets creates, before a ControlPlane is restored, the Secrets in the ShootState.
func (g *Gardenlet) RestoreSecrets(ctx context.Context, shoot *Shoot, state *gardencorev1beta1.ShootState) error {
	for _, carried := range state.Spec.Gardener {
		if carried.Type != v1beta1constants.DataTypeSecret {
			continue
		}
		var content shootstate.SecretState
		if err := json.Unmarshal(carried.Data.Raw, &content); err != nil {
			return fmt.Errorf("reading Secret %s of shoot %s in its state: %w", carried.Name, shoot.Name, err)
		}
		secret := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: carried.Name, Namespace: shoot.Namespace(), Labels: carried.Labels},
			Data:       content.Data, Immutable: content.Immutable, Type: content.Type,
		}
		if err := g.Seed.Create(ctx, secret); client.IgnoreAlreadyExists(err) != nil {
			return fmt.Errorf("restoring Secret %s of shoot %s: %w", carried.Name, shoot.Name, err)
		}
	}
	return nil
}

// prepareAccess requests the kubeconfigs that Gardener uses, and extensions may use, and waits for their tokens.
func (g *Gardenlet) prepareAccess(ctx context.Context, shoot *Shoot, apiServer APIServer, manager secretsmanager.Interface) error {
	values := access.Values{ServerOutOfCluster: apiServer.URL, ServerInCluster: apiServer.URL}
	if err := access.New(g.Seed, shoot.Namespace(), manager, values).Deploy(ctx); err != nil {
		return fmt.Errorf("preparing Gardener's access to shoot %s: %w", shoot.Name, err)
	}
	for _, name := range []string{v1beta1constants.SecretNameGardener, v1beta1constants.SecretNameGardenerInternal} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: shoot.Namespace()}}
		if err := g.waitUntil(ctx, secret, func() (bool, error) { return tokenrequest.IsTokenPopulated(secret) }); err != nil {
			return fmt.Errorf("waiting for the token in Secret %s of shoot %s: %w", name, shoot.Name, err)
		}
	}
	return nil
}

// waitUntil reads an object until a condition holds.
func (g *Gardenlet) waitUntil(ctx context.Context, object client.Object, fits func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, g.Timeout)
	defer cancel()
	tick := time.NewTicker(g.Interval)
	defer tick.Stop()
	for {
		if err := g.Seed.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		if done, err := fits(); err != nil || done {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// RemoveAccess is what gardenlet does after the ControlPlane is gone: it removes what only the API server's clients need.
func (g *Gardenlet) RemoveAccess(ctx context.Context, shoot *Shoot) error {
	component := access.New(g.Seed, shoot.Namespace(), nil, access.Values{})
	if err := component.Destroy(ctx); err != nil {
		return fmt.Errorf("removing Gardener's access to shoot %s: %w", shoot.Name, err)
	}
	if err := component.WaitCleanup(ctx); err != nil {
		return fmt.Errorf("waiting until Gardener's access to shoot %s is gone: %w", shoot.Name, err)
	}
	return nil
}

// ScaleAPIServer scales the Deployment of the API server as for hibernation and waking up, and waits for the pods.
func (g *Gardenlet) ScaleAPIServer(ctx context.Context, shoot *Shoot, replicas int32) error {
	key := client.ObjectKey{Namespace: shoot.Namespace(), Name: v1beta1constants.DeploymentNameKubeAPIServer}
	if err := kubernetesutils.ScaleDeployment(ctx, g.Seed, key, replicas); err != nil {
		return fmt.Errorf("scaling the API server of shoot %s: %w", shoot.Name, err)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: key.Namespace}}
	if err := g.waitUntil(ctx, deployment, func() (bool, error) {
		status := deployment.Status
		return status.ObservedGeneration == deployment.Generation && status.Replicas == replicas && status.AvailableReplicas == replicas, nil
	}); err != nil {
		return fmt.Errorf("waiting for the API server of shoot %s: %w", shoot.Name, err)
	}
	return nil
}

// knownCA is a secrets manager with the CA of an existing API server.
type knownCA struct {
	secretsmanager.Interface
	ca *corev1.Secret
}

func (k knownCA) Get(name string, options ...secretsmanager.GetOption) (*corev1.Secret, bool) {
	if name == v1beta1constants.SecretNameCACluster {
		return k.ca, true
	}
	return k.Interface.Get(name, options...)
}

func (g *Gardenlet) secretsManager(ctx context.Context, shoot *Shoot, apiServer APIServer) (secretsmanager.Interface, error) {
	manager, err := secretsmanager.New(
		ctx, logr.Discard(), clock.RealClock{}, g.Seed, v1beta1constants.SecretManagerIdentityGardenlet, secretsmanager.WithNamespaces(shoot.Namespace()),
	)
	if err != nil {
		return nil, fmt.Errorf("creating gardenlet's secrets manager for shoot %s: %w", shoot.Name, err)
	}
	return knownCA{manager, &corev1.Secret{Data: map[string][]byte{secrets.DataKeyCertificateBundle: apiServer.CA}}}, nil
}

// apiServerDeployment is the part of the Deployment of a shoot's API server that others read.
func apiServerDeployment(namespace string) *appsv1.Deployment {
	labels := map[string]string{v1beta1constants.LabelApp: v1beta1constants.LabelKubernetes, v1beta1constants.LabelRole: v1beta1constants.LabelAPIServer}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: v1beta1constants.DeploymentNameKubeAPIServer, Namespace: namespace,
			Labels: map[string]string{
				v1beta1constants.LabelApp:   v1beta1constants.LabelKubernetes,
				v1beta1constants.LabelRole:  v1beta1constants.LabelAPIServer,
				v1beta1constants.GardenRole: v1beta1constants.GardenRoleControlPlane,
				v1beta1constants.LabelExtensionProviderMutatedByControlplaneWebhook: "true",
			},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					PriorityClassName:            v1beta1constants.PriorityClassNameShootControlPlane500,
					AutomountServiceAccountToken: new(false),
					Containers: []corev1.Container{{
						Name: "kube-apiserver", Image: "registry.k8s.io/kube-apiserver:v1.36.3",
						Command: []string{"/usr/local/bin/kube-apiserver"},
						Args:    []string{"--enable-admission-plugins=NodeRestriction", "--secure-port=443"},
					}},
				},
			},
		},
	}
}
