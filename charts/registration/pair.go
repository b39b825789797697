package registration

import (
	"encoding/json"
	"fmt"
	"path"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/charts"
)

// pair is what works for the garden: one chart runs it in the garden's runtime cluster, the other gives it rights in the virtual garden.
// gardener-operator has a place for such pairs in its Extensions, and calls all of them admissions.
type pair struct {
	// name is that of the Extension, runtime and application those of the charts.
	name, runtime, application string
	// values are those of both charts, a JSON object: gardener-operator knows no others.
	values []byte
}

// generate writes the Extension, and renders both charts as gardener-operator would.
func (p pair) generate(o Options, about []string) (File, []rendered, error) {
	deployment := &operatorv1alpha1.AdmissionDeploymentSpec{Values: &apiextensionsv1.JSON{Raw: p.values}}
	var halves []rendered
	for _, half := range []struct {
		chart string
		into  **operatorv1alpha1.DeploymentSpec
	}{{p.runtime, &deployment.RuntimeCluster}, {p.application, &deployment.VirtualCluster}} {
		archive, oci, err := o.pack(half.chart)
		if err != nil {
			return File{}, nil, fmt.Errorf("chart %s: %w", half.chart, err)
		}
		*half.into = &operatorv1alpha1.DeploymentSpec{Helm: &operatorv1alpha1.ExtensionHelm{OCIRepository: &oci}}
		installed, err := p.render(half.chart, archive)
		if err != nil {
			return File{}, nil, err
		}
		halves = append(halves, installed)
	}
	content, err := document(about, o.Version, []runtime.Object{p.extension(deployment)})
	if err != nil {
		return File{}, nil, fmt.Errorf("encoding %s: %w", p.name, err)
	}
	return File{Path: path.Join(p.name, "operator.yaml"), Content: content}, halves, nil
}

func (p pair) extension(deployment *operatorv1alpha1.AdmissionDeploymentSpec) *operatorv1alpha1.Extension {
	return &operatorv1alpha1.Extension{
		TypeMeta:   metav1.TypeMeta{APIVersion: operatorv1alpha1.SchemeGroupVersion.String(), Kind: "Extension"},
		ObjectMeta: metav1.ObjectMeta{Name: p.name, Labels: map[string]string{LabelPartOf: PartOf}},
		Spec:       operatorv1alpha1.ExtensionSpec{Deployment: &operatorv1alpha1.Deployment{AdmissionDeployment: deployment}},
	}
}

// render installs a half as gardener-operator would, with what it mixes in (gardener/pkg/operator/controller/extension/extension/admission).
func (p pair) render(chart string, archive []byte) (rendered, error) {
	values := Values{}
	if err := json.Unmarshal(p.values, &values); err != nil {
		return rendered{}, fmt.Errorf("decoding values of %s: %w", p.name, err)
	}
	release := charts.Release{Name: p.name, Namespace: v1beta1constants.GardenNamespace}
	mixedIn := Values{
		"runtimeCluster": Values{"priorityClassName": v1beta1constants.PriorityClassNameGardenSystem400},
		"virtualCluster": Values{"enabled": true, "namespace": "extension-" + p.name},
	}
	if chart == p.application {
		release.Namespace = "extension-" + p.name
		mixedIn = Values{"virtualCluster": Values{
			"enabled": true, "serviceAccount": Values{"name": "extension-admission-" + p.name, "namespace": metav1.NamespaceSystem},
		}}
	}
	merge(values, Values{"gardener": mixedIn})
	objects, err := charts.Render(archive, release, values)
	if err != nil {
		return rendered{}, fmt.Errorf("rendering chart %s of %s: %w", chart, p.name, err)
	}
	return rendered{of: p.name, chart: chart, release: release, objects: objects}, nil
}
