package registration

import (
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/charts"
)

// admissionBinary is what both halves of admission are for, and what its webhooks and its Service go by.
const admissionBinary = "admission"

// Admission describes the admission binary in the garden, which has no ControllerRegistration.
type Admission struct {
	Name  string   `json:"name"`
	Types []string `json:"types"`
}

func (c Catalogue) checkAdmission(problems *FieldErrors) {
	if c.Admission == nil {
		return
	}
	const name = "admission.name"
	checkLabel(name, c.Admission.Name, maxNamespaceName, "extension-<name> becomes a namespace of the virtual garden", problems)
	checkTypes("admission.types", c.Admission.Types, problems)
	if i := slices.IndexFunc(c.Registrations, func(e Entry) bool { return e.Name == c.Admission.Name }); i >= 0 && c.Admission.Name != "" {
		addf(problems, name, "%q is that of registrations[%d] already, and both become Extensions of gardener-operator; rename one of them",
			c.Admission.Name, i)
	}
}

// generate writes the one form that there is, and renders both halves as gardener-operator would. Nothing comes of no Admission.
func (a *Admission) generate(o Options) ([]File, []rendered, error) {
	if a == nil {
		return nil, nil, nil
	}
	values, err := o.extraValues(a.Name, admissionBinary, charts.AdmissionRuntime, a.Types)
	if err != nil {
		return nil, nil, err
	}
	file, halves, err := pair{name: a.Name, runtime: charts.AdmissionRuntime, application: charts.AdmissionApplication, values: values}.generate(o, []string{
		"For gardener-operator, in the garden runtime cluster: it runs admission there, and gives it rights in the virtual garden. Without",
		"gardener-operator there is nothing to apply: docs/operations/admission.md says how Helm installs both charts.",
	})
	if err != nil {
		return nil, nil, err
	}
	if err := a.check(halves); err != nil {
		return nil, nil, err
	}
	return []File{file}, halves, nil
}

// check holds what would run against the catalogue.
func (a *Admission) check(halves []rendered) error {
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
