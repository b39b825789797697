package controlplane

import (
	"context"
	"errors"
	"fmt"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
)

// tuner applies the changes of one driver to objects in shoots' namespaces. It reads the Cluster only for objects that the driver changes.
type tuner struct {
	driver Driver
	reader client.Reader
	images images.Vector
}

func (t *tuner) tuneDeployment(ctx context.Context, deployment, _ *appsv1.Deployment) error {
	var tune func(*tuning.Tuning) error
	switch deployment.Name {
	case v1beta1constants.DeploymentNameKubeAPIServer:
		tune = func(tuned *tuning.Tuning) error { return tuning.TuneKubeAPIServer(deployment, tuned.KubeAPIServer) }
	case v1beta1constants.DeploymentNameKubeControllerManager:
		tune = func(tuned *tuning.Tuning) error {
			return tuning.TuneKubeControllerManager(deployment, tuned.KubeControllerManager)
		}
	case v1beta1constants.DeploymentNameKubeScheduler:
		tune = func(tuned *tuning.Tuning) error { return tuning.TuneKubeScheduler(deployment, tuned.KubeScheduler) }
	case v1beta1constants.DeploymentNameClusterAutoscaler:
		tune = func(tuned *tuning.Tuning) error {
			return tuning.TuneClusterAutoscaler(deployment, tuned.ClusterAutoscaler)
		}
	default:
		return nil
	}
	tuned, err := t.tuningFor(ctx, tuning.ControlPlane, "Deployment", deployment)
	if err != nil {
		return err
	}
	return tune(tuned)
}

func (t *tuner) tuneOperatingSystemConfig(ctx context.Context, config, _ *extensionsv1alpha1.OperatingSystemConfig) error {
	if config.Spec.Purpose != extensionsv1alpha1.OperatingSystemConfigPurposeReconcile {
		return nil
	}
	tuned, err := t.tuningFor(ctx, tuning.Nodes, "OperatingSystemConfig", config)
	if err != nil {
		return err
	}
	return tuning.TuneOperatingSystemConfig(config, *tuned)
}

func (t *tuner) completeCredentials(ctx context.Context, secret, _ *corev1.Secret) error {
	if secret.Name != v1beta1constants.SecretNameCloudProvider {
		return nil
	}
	cluster, err := t.cluster(ctx, secret.Namespace)
	if err != nil {
		return fmt.Errorf("completing Secret %s/%s: %w", secret.Namespace, secret.Name, err)
	}
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	if err := t.driver.CompleteCredentials(secret, cluster); err != nil {
		return fmt.Errorf("completing Secret %s/%s: %w", secret.Namespace, secret.Name, err)
	}
	return nil
}

func (t *tuner) tuningFor(ctx context.Context, scope tuning.Scope, kind string, object client.Object) (*tuning.Tuning, error) {
	request, err := t.request(ctx, scope, object.GetNamespace())
	if err != nil {
		return nil, fmt.Errorf("tuning %s %s/%s: %w", kind, object.GetNamespace(), object.GetName(), err)
	}
	tuned, err := t.driver.Tune(request)
	if err != nil {
		return nil, fmt.Errorf("tuning %s %s/%s: %w", kind, object.GetNamespace(), object.GetName(), err)
	}
	return tuned, nil
}

func (t *tuner) request(ctx context.Context, scope tuning.Scope, namespace string) (*TuneRequest, error) {
	request := &TuneRequest{Scope: scope}
	var err error
	if scope == tuning.Nodes {
		if request.Cluster, err = t.cluster(ctx, namespace); err == nil {
			request.InfrastructureStatus, err = t.infrastructureStatus(ctx, namespace, request.Cluster.Shoot.Name)
		}
	} else {
		request.Cluster, err = t.shootOnly(ctx, namespace)
	}
	if err != nil {
		return nil, err
	}
	request.Image = ImagesFor(t.images, request.Cluster.Shoot.Spec.Kubernetes.Version)
	return request, nil
}

// infrastructureStatus returns what gardenlet has copied from the Infrastructure to the ControlPlane, which has the shoot's name.
func (t *tuner) infrastructureStatus(ctx context.Context, namespace, shoot string) (*runtime.RawExtension, error) {
	controlPlane := &extensionsv1alpha1.ControlPlane{}
	if err := t.reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: shoot}, controlPlane); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return controlPlane.Spec.InfrastructureProviderStatus, nil
}

// cluster returns a Cluster with a shoot and a cloud profile.
func (t *tuner) cluster(ctx context.Context, namespace string) (*contract.Cluster, error) {
	cluster, err := contract.ReadCluster(ctx, t.reader, namespace)
	switch {
	case err != nil:
		return nil, describeNotFound(err)
	case cluster.Shoot == nil || cluster.CloudProfile == nil:
		return nil, fmt.Errorf("the Cluster resource %q lacks the shoot or the cloud profile", namespace)
	default:
		return cluster, nil
	}
}

// shootOnly returns a Cluster with a shoot and nothing else.
func (t *tuner) shootOnly(ctx context.Context, namespace string) (*contract.Cluster, error) {
	cluster, err := contract.ReadClusterShoot(ctx, t.reader, namespace)
	switch {
	case err != nil:
		return nil, describeNotFound(err)
	case cluster.Shoot == nil:
		return nil, fmt.Errorf("the Cluster resource %q lacks the shoot", namespace)
	default:
		return cluster, nil
	}
}

func describeNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return errors.New("there is no Cluster resource of the namespace's name, which would say what its cloud needs")
	}
	return err
}
