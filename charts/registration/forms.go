package registration

import (
	"encoding/json"
	"fmt"

	gardencorev1 "github.com/gardener/gardener/pkg/apis/core/v1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The label that all generated registrations carry.
const (
	LabelPartOf = "app.kubernetes.io/part-of"
	PartOf      = "trellis"
)

// form is one way to tell Gardener of an entry.
type form struct {
	file string
	// about are the lines of comment at the top of the file.
	about   []string
	objects func(manifestInput) ([]runtime.Object, error)
}

// manifestInput is what all forms of an entry are made from.
type manifestInput struct {
	entry   Entry
	archive []byte
	oci     gardencorev1.OCIRepository
	// values is a JSON object, or nil.
	values []byte
	// config is what an own operator is told besides.
	config Values
	// injectGardenKubeconfig gives pods a way into the garden.
	injectGardenKubeconfig *bool
}

// forms are those of all that fulfils extension objects.
func forms() []form {
	return append(formsWithHelm(), form{
		"trellis.yaml",
		[]string{
			"The chart is inside, for Trellis' own operator, which installs it instead of gardenlet. For the virtual garden. How it reaches seeds is in",
			"providerConfig.rollout: generate --config writes another one, and docs/operations/staged-rollouts.md says what there is.",
		},
		manifestInput.forInstaller,
	})
}

// formsWithHelm are those that gardenlet fulfils itself.
func formsWithHelm() []form {
	return []form{
		{
			"rawchart.yaml",
			[]string{"The chart is inside, so that no registry of charts is needed. For the virtual garden."},
			manifestInput.withRawChart,
		},
		{
			"oci.yaml",
			[]string{"The chart is pulled by gardenlet from an OCI registry. For the virtual garden."},
			manifestInput.withOCI,
		},
		{
			"v1beta1.yaml",
			[]string{"The chart is inside, in the older form of a ControllerDeployment. For the virtual garden."},
			manifestInput.inV1beta1,
		},
		{
			"operator.yaml",
			[]string{
				"For gardener-operator, in the garden runtime cluster: it writes the two others into the virtual garden, so that",
				"those must not be applied by hand as well.",
			},
			manifestInput.forOperator,
		},
	}
}

func (m manifestInput) withRawChart() ([]runtime.Object, error) {
	return m.withHelm(gardencorev1.HelmControllerDeployment{RawChart: m.archive, Values: m.jsonValues()})
}

func (m manifestInput) withOCI() ([]runtime.Object, error) {
	return m.withHelm(gardencorev1.HelmControllerDeployment{OCIRepository: &m.oci, Values: m.jsonValues()})
}

func (m manifestInput) withHelm(helm gardencorev1.HelmControllerDeployment) ([]runtime.Object, error) {
	return []runtime.Object{
		&gardencorev1.ControllerDeployment{
			TypeMeta:   metav1.TypeMeta{APIVersion: gardencorev1.SchemeGroupVersion.String(), Kind: "ControllerDeployment"},
			ObjectMeta: m.entry.metadata(),
			Helm:       &helm,

			InjectGardenKubeconfig: m.injectGardenKubeconfig,
		},
		m.entry.controllerRegistration(),
	}, nil
}

func (m manifestInput) inV1beta1() ([]runtime.Object, error) {
	return m.withProviderConfig(gardencorev1beta1.ControllerDeploymentTypeHelm,
		gardencorev1beta1.HelmControllerDeployment{Chart: m.archive, Values: m.jsonValues()})
}

func (m manifestInput) withProviderConfig(deploymentType string, providerConfig any) ([]runtime.Object, error) {
	config, err := json.Marshal(providerConfig)
	if err != nil {
		return nil, fmt.Errorf("encoding the providerConfig of %s: %w", m.entry.Name, err)
	}
	return []runtime.Object{
		&gardencorev1beta1.ControllerDeployment{
			TypeMeta:       metav1.TypeMeta{APIVersion: gardencorev1beta1.SchemeGroupVersion.String(), Kind: "ControllerDeployment"},
			ObjectMeta:     m.entry.metadata(),
			Type:           deploymentType,
			ProviderConfig: runtime.RawExtension{Raw: config},

			InjectGardenKubeconfig: m.injectGardenKubeconfig,
		},
		m.entry.controllerRegistration(),
	}, nil
}

func (m manifestInput) forOperator() ([]runtime.Object, error) {
	metadata := m.entry.metadata()
	// gardener-operator hands it on to the ControllerRegistration.
	metadata.Annotations = m.entry.annotations()
	return []runtime.Object{&operatorv1alpha1.Extension{
		TypeMeta:   metav1.TypeMeta{APIVersion: operatorv1alpha1.SchemeGroupVersion.String(), Kind: "Extension"},
		ObjectMeta: metadata,
		Spec: operatorv1alpha1.ExtensionSpec{
			Resources: m.entry.resources(),
			Deployment: &operatorv1alpha1.Deployment{ExtensionDeployment: &operatorv1alpha1.ExtensionDeploymentSpec{
				DeploymentSpec: operatorv1alpha1.DeploymentSpec{Helm: &operatorv1alpha1.ExtensionHelm{OCIRepository: &m.oci}},
				Values:         m.jsonValues(),
				Policy:         &m.entry.Policy,
				SeedSelector:   m.entry.SeedSelector,

				InjectGardenKubeconfig: m.injectGardenKubeconfig,
			}},
		},
	}}, nil
}

func (m manifestInput) jsonValues() *apiextensionsv1.JSON {
	if m.values == nil {
		return nil
	}
	return &apiextensionsv1.JSON{Raw: m.values}
}

func (e Entry) metadata() metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: e.Name, Labels: map[string]string{LabelPartOf: PartOf}}
}

func (e Entry) annotations() map[string]string {
	return map[string]string{v1beta1constants.AnnotationPodSecurityEnforce: e.PodSecurity}
}

func (e Entry) controllerRegistration() *gardencorev1beta1.ControllerRegistration {
	metadata := e.metadata()
	metadata.Annotations = e.annotations()
	return &gardencorev1beta1.ControllerRegistration{
		TypeMeta:   metav1.TypeMeta{APIVersion: gardencorev1beta1.SchemeGroupVersion.String(), Kind: "ControllerRegistration"},
		ObjectMeta: metadata,
		Spec: gardencorev1beta1.ControllerRegistrationSpec{
			Resources: e.resources(),
			Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{
				Policy:         &e.Policy,
				SeedSelector:   e.SeedSelector,
				DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: e.Name}},
			},
		},
	}
}

func (e Entry) resources() []gardencorev1beta1.ControllerResource {
	if e.Kind == "" {
		return nil // it serves none, and its types are something else
	}
	resources := make([]gardencorev1beta1.ControllerResource, 0, len(e.Types))
	for _, typ := range e.Types {
		resources = append(resources, gardencorev1beta1.ControllerResource{
			Kind: e.Kind, Type: typ, Primary: new(e.Role == RolePrimary),
			ReconcileTimeout: e.ReconcileTimeout, Lifecycle: e.Lifecycle, AutoEnable: e.AutoEnable,
			ClusterCompatibility: e.ClusterCompatibility, WorkerlessSupported: e.WorkerlessSupported,
			ContinuousEndpointUpdate: e.ContinuousEndpointUpdate,
		})
	}
	return resources
}
