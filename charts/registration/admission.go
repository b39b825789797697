package registration

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	operatorv1alpha1 "github.com/gardener/gardener/pkg/apis/operator/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/charts"
)

// admissionBinary is what both halves of admission are for, and what its webhooks and its Service go by.
const admissionBinary = "admission"

// Admission is what judges in the garden. No ControllerRegistration knows of it.
type Admission struct {
	Name  string   `json:"name"`
	Types []string `json:"types"`
}

func (c Catalogue) checkAdmission(problems *FieldErrors) {
	if c.Admission == nil {
		return
	}
	const name = "admission.name"
	checkLabel(name, c.Admission.Name, maxName, "extension-<name> becomes a namespace of the virtual garden", problems)
	checkTypes("admission.types", c.Admission.Types, problems)
	if i := slices.IndexFunc(c.Registrations, func(e Entry) bool { return e.Name == c.Admission.Name }); i >= 0 && c.Admission.Name != "" {
		addf(problems, name, "%q is that of registrations[%d] already, and both become Extensions of gardener-operator; rename one of them",
			c.Admission.Name, i)
	}
}

// generate writes the one form that there is, and renders both halves as gardener-operator would.
func (a Admission) generate(o Options) (File, []rendered, error) {
	values, err := a.values(o)
	if err != nil {
		return File{}, nil, err
	}
	deployment := &operatorv1alpha1.AdmissionDeploymentSpec{Values: &apiextensionsv1.JSON{Raw: values}}
	var halves []rendered
	for _, chart := range charts.AdmissionNames() {
		archive, oci, err := o.pack(chart)
		if err != nil {
			return File{}, nil, fmt.Errorf("chart %s: %w", chart, err)
		}
		pulled := &operatorv1alpha1.DeploymentSpec{Helm: &operatorv1alpha1.ExtensionHelm{OCIRepository: &oci}}
		if chart == charts.AdmissionRuntime {
			deployment.RuntimeCluster = pulled
		} else {
			deployment.VirtualCluster = pulled
		}
		installed, err := a.render(chart, archive, values)
		if err != nil {
			return File{}, nil, err
		}
		halves = append(halves, installed)
	}
	if err := a.check(halves); err != nil {
		return File{}, nil, err
	}
	content, err := document([]string{
		"For gardener-operator, in the garden runtime cluster: it runs admission there, and gives it rights in the virtual garden. Without",
		"gardener-operator there is nothing to apply: docs/landscape.md says how Helm installs both charts.",
	}, o.Version, []runtime.Object{a.extension(deployment)})
	if err != nil {
		return File{}, nil, fmt.Errorf("encoding %s: %w", a.Name, err)
	}
	return File{Path: path.Join(a.Name, "operator.yaml"), Content: content}, halves, nil
}

func (a Admission) extension(deployment *operatorv1alpha1.AdmissionDeploymentSpec) *operatorv1alpha1.Extension {
	return &operatorv1alpha1.Extension{
		TypeMeta:   metav1.TypeMeta{APIVersion: operatorv1alpha1.SchemeGroupVersion.String(), Kind: "Extension"},
		ObjectMeta: metav1.ObjectMeta{Name: a.Name, Labels: map[string]string{LabelPartOf: PartOf}},
		Spec:       operatorv1alpha1.ExtensionSpec{Deployment: &operatorv1alpha1.Deployment{AdmissionDeployment: deployment}},
	}
}

// values are those of both halves: gardener-operator knows no others.
func (a Admission) values(o Options) ([]byte, error) {
	values := Values{"types": a.Types}
	if image := o.image(admissionBinary); len(image) > 0 {
		values["image"] = image
	}
	given := o.ValuesOf[a.Name]
	if err := refuseOwned(given, [][]string{{"types"}}); err != nil {
		return nil, fmt.Errorf("values for %s: %w", a.Name, err)
	}
	merge(values, given)
	encoded, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("encoding values of %s: %w", a.Name, err)
	}
	return encoded, nil
}

// render installs a half as gardener-operator would, with what it mixes in (gardener/pkg/operator/controller/extension/extension/admission).
func (a Admission) render(chart string, archive, encoded []byte) (rendered, error) {
	values := Values{}
	if err := json.Unmarshal(encoded, &values); err != nil {
		return rendered{}, fmt.Errorf("decoding values of %s: %w", a.Name, err)
	}
	release := charts.Release{Name: a.Name, Namespace: v1beta1constants.GardenNamespace}
	mixedIn := Values{
		"runtimeCluster": Values{"priorityClassName": v1beta1constants.PriorityClassNameGardenSystem400},
		"virtualCluster": Values{"enabled": true, "namespace": "extension-" + a.Name},
	}
	if chart == charts.AdmissionApplication {
		release.Namespace = "extension-" + a.Name
		mixedIn = Values{"virtualCluster": Values{
			"enabled": true, "serviceAccount": Values{"name": "extension-admission-" + a.Name, "namespace": metav1.NamespaceSystem},
		}}
	}
	merge(values, Values{"gardener": mixedIn})
	objects, err := charts.Render(archive, release, values)
	if err != nil {
		return rendered{}, fmt.Errorf("rendering chart %s of %s: %w", chart, a.Name, err)
	}
	return rendered{of: a.Name, chart: chart, release: release, objects: objects}, nil
}

// check holds what would run against the catalogue.
func (a Admission) check(halves []rendered) error {
	var problems FieldErrors
	for _, half := range halves {
		if half.chart != charts.AdmissionRuntime {
			continue
		}
		args, err := half.args()
		if err != nil {
			addf(&problems, a.Name, "%v; give chart %s one", err, half.chart)
			continue
		}
		half.checkFlag(args, "types", strings.Join(a.Types, ","), &problems)
		half.checkService(admissionBinary, &problems)
	}
	return problems.orNil()
}
