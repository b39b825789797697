package controlplanetest

import (
	"encoding/json"
	"fmt"
	"maps"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/internal/contract/contracttest"
)

const (
	// technicalID differs from every namespace: a driver that takes the one for the other is found out.
	technicalID = "shoot--suite--one"
	uid         = types.UID("5f0c9a52-3c1e-4f6b-9d39-8a1f6f1f7a11")
	// GenericKubeconfig is the Secret that gardenlet announces in the Cluster.
	GenericKubeconfig = "generic-token-kubeconfig-0a1b2c3d"
)

// shootFixture makes what Gardener puts into a shoot's namespace before it asks for a ControlPlane.
type shootFixture struct {
	subject   Subject
	namespace string
}

func (f shootFixture) fixture() (contracttest.Fixture, error) {
	profile, err := encode(f.subject.Inputs.CloudProfileConfig)
	if err != nil {
		return contracttest.Fixture{}, err
	}
	return contracttest.Fixture{
		ProviderType: f.subject.Type, TechnicalID: technicalID, UID: uid,
		CloudProfileConfig: profile, Credentials: maps.Clone(f.subject.Inputs.Credentials),
	}, nil
}

// cluster returns the Cluster with the shoot as the changes make it.
func (f shootFixture) cluster(changes ...func(*gardencorev1beta1.Shoot)) (*extensionsv1alpha1.Cluster, error) {
	fixture, err := f.fixture()
	if err != nil {
		return nil, err
	}
	shoot := fixture.Shoot()
	for _, change := range changes {
		change(shoot)
	}
	cluster, err := contracttest.NewCluster(f.namespace, shoot, fixture.CloudProfile(), fixture.Seed())
	if err != nil {
		return nil, err
	}
	cluster.Annotations = map[string]string{v1beta1constants.AnnotationKeyGenericTokenKubeconfigSecretName: GenericKubeconfig}
	return cluster, nil
}

// objects returns what is there before the ControlPlane and none of the controller's.
func (f shootFixture) objects() ([]client.Object, error) {
	fixture, err := f.fixture()
	if err != nil {
		return nil, err
	}
	cluster, err := f.cluster()
	if err != nil {
		return nil, err
	}
	objects := []client.Object{cluster, fixture.Secret(f.namespace), f.genericKubeconfig(), f.kubeAPIServer()}
	if existing := f.subject.Inputs.Existing; existing != nil {
		objects = append(objects, existing(f.namespace)...)
	}
	return objects, nil
}

// upstreamObjects returns what is there before and becomes the controller's.
func (f shootFixture) upstreamObjects() []client.Object {
	if f.subject.Inputs.Upstream == nil {
		return nil
	}
	return f.subject.Inputs.Upstream(f.namespace)
}

func (f shootFixture) genericKubeconfig() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: GenericKubeconfig},
		Data:       map[string][]byte{"kubeconfig": []byte("apiVersion: v1\nkind: Config\n")},
	}
}

func (f shootFixture) kubeAPIServer() *appsv1.Deployment {
	labels := map[string]string{"role": "apiserver"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: v1beta1constants.DeploymentNameKubeAPIServer},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "kube-apiserver", Image: "kube-apiserver"}}},
			},
		},
	}
}

// controlPlane returns the object to ask for.
func (f shootFixture) controlPlane() (*extensionsv1alpha1.ControlPlane, error) {
	config, err := encode(f.subject.Inputs.ControlPlaneConfig)
	if err != nil {
		return nil, err
	}
	infrastructure, err := encode(f.subject.Inputs.InfrastructureStatus)
	if err != nil {
		return nil, err
	}
	return &extensionsv1alpha1.ControlPlane{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "one"},
		Spec: extensionsv1alpha1.ControlPlaneSpec{
			DefaultSpec:                  extensionsv1alpha1.DefaultSpec{Type: f.subject.Type, ProviderConfig: config},
			Region:                       contracttest.Region,
			SecretRef:                    corev1.SecretReference{Namespace: f.namespace, Name: v1beta1constants.SecretNameCloudProvider},
			InfrastructureProviderStatus: infrastructure,
		},
	}, nil
}

func encode(config runtime.Object) (*runtime.RawExtension, error) {
	if config == nil {
		return nil, nil
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", config, err)
	}
	return &runtime.RawExtension{Raw: raw}, nil
}
