package registration

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/trellis-garden/trellis/charts"
)

const (
	// installerBinary is what runs wherever the installer does.
	installerBinary = "controllerinstallation-controller"
	// deploymentType is the type of ControllerDeployments in the form for the installer.
	deploymentType = "trellis"
	gardenSuffix   = "-garden"
)

// Installer is the operator that installs in gardenlet's stead what is registered with its types. It has a registration of its own for seeds, by
// which gardenlet installs it and which serves no kind, and another form for the garden, of which no ControllerRegistration knows.
type Installer struct {
	Name         string                `json:"name"`
	Types        []string              `json:"types"`
	SeedSelector *metav1.LabelSelector `json:"seedSelector"`
}

// inGarden is the name of the one that works for many seeds.
func (i *Installer) inGarden() string { return i.Name + gardenSuffix }

func (c Catalogue) checkInstaller(problems *FieldErrors) {
	if c.Installer == nil {
		return
	}
	const name = "installer.name"
	checkLabel(name, c.Installer.Name, maxNamespaceName-len(gardenSuffix),
		"extension-<name>-<5 characters> and extension-<name>"+gardenSuffix+" become namespaces", problems)
	checkTypes("installer.types", c.Installer.Types, problems)
	if i := slices.Index(c.Installer.Types, gardencorev1beta1.ControllerDeploymentTypeHelm); i >= 0 {
		addf(problems, fmt.Sprintf("installer.types[%d]", i), "the type helm is gardenlet's, and both would fulfil it; remove it")
	}
	if len(c.Installer.Types) > 0 && !slices.Contains(c.Installer.Types, deploymentType) {
		addf(problems, "installer.types", "%s is missing, which the files %s.yaml of all registrations have; add it", deploymentType, deploymentType)
	}
	if c.Installer.SeedSelector != nil {
		checkSelector("installer.seedSelector", c.Installer.SeedSelector, problems)
	}
	others := Catalogue{Registrations: c.Registrations, Admission: c.Admission}.names()
	for _, own := range []string{c.Installer.Name, c.Installer.inGarden()} {
		if c.Installer.Name != "" && slices.Contains(others, own) {
			addf(problems, name, "%q is registered already; rename one of them", own)
		}
	}
}

// generate writes the forms for seeds and the one for the garden, and renders what would run. Nothing comes of no Installer.
func (i *Installer) generate(o Options) ([]File, []rendered, error) {
	if i == nil {
		return nil, nil, nil
	}
	inSeed, err := i.manifestInput(o)
	if err != nil {
		return nil, nil, err
	}
	files, err := inSeed.writeAll(formsWithHelm(), o.Version)
	if err != nil {
		return nil, nil, err
	}
	installed, err := inSeed.render()
	if err != nil {
		return nil, nil, err
	}
	values, err := o.extraValues(i.inGarden(), installerBinary, charts.InstallationRuntime, i.Types)
	if err != nil {
		return nil, nil, err
	}
	garden := pair{name: i.inGarden(), runtime: charts.InstallationRuntime, application: charts.InstallationApplication, values: values}
	file, halves, err := garden.generate(o, []string{
		"For gardener-operator, in the garden runtime cluster: it runs the operator for many seeds there, and gives it rights in the virtual garden.",
		"Without gardener-operator there is nothing to apply: docs/operations/staged-rollouts.md says how Helm installs both charts.",
	})
	if err != nil {
		return nil, nil, err
	}
	all := append([]rendered{installed.rendered}, halves...)
	return append(files, file), all, i.check(all)
}

// manifestInput is that of the registration for seeds: on every seed, and with a way into the garden.
func (i *Installer) manifestInput(o Options) (manifestInput, error) {
	archive, oci, err := o.pack(charts.InstallationSeed)
	if err != nil {
		return manifestInput{}, fmt.Errorf("chart of %s: %w", i.Name, err)
	}
	values, err := o.extraValues(i.Name, installerBinary, charts.InstallationSeed, i.Types)
	if err != nil {
		return manifestInput{}, err
	}
	entry := Entry{
		Name: i.Name, Chart: charts.InstallationSeed, Types: i.Types, Policy: gardencorev1beta1.ControllerDeploymentPolicyAlways,
		SeedSelector: i.SeedSelector, // Gardener allows it to whoever is no primary
	}
	return manifestInput{entry: entry.withDefaults(), archive: archive, oci: oci, values: values, injectGardenKubeconfig: new(true)}, nil
}

// check holds what would run against the catalogue.
func (i *Installer) check(all []rendered) error {
	var problems FieldErrors
	for _, installed := range all {
		if installed.chart == charts.InstallationApplication {
			continue
		}
		args, err := installed.args()
		if err != nil {
			addf(&problems, installed.of, "%v; give chart %s one", err, installed.chart)
			continue
		}
		installed.checkFlag(args, "types", strings.Join(i.Types, ","), &problems)
	}
	return problems.orNil()
}

// configFields are what an admin may say in the providerConfig of the installer's type beside the chart and its values.
func configFields() []string {
	return []string{"valuesOverlays", "rollout", "uninstall", "historyLimit"}
}

// checkConfig looks at names only: what is in these fields is validated by the operator itself.
func (o Options) checkConfig(c Catalogue, problems *FieldErrors) {
	var registered []string
	for _, e := range c.Registrations {
		registered = append(registered, e.Name)
	}
	checkFields("config", o.Config, configFields(), problems)
	checkKnown("config", sortedKeys(o.ConfigOf), registered, problems)
	for _, name := range sortedKeys(o.ConfigOf) {
		checkFields("config of "+name, o.ConfigOf[name], configFields(), problems)
	}
}

func checkFields(what string, given Values, known []string, problems *FieldErrors) {
	for _, field := range sortedKeys(given) {
		if !slices.Contains(known, field) {
			addf(problems, what, "%s is not for here; there are %s", field, strings.Join(known, ", "))
		}
	}
}

// configOf is what the installer is told of a registration besides. What is not said has the defaults of its type; those that people will want to
// change are written down.
func (o Options) configOf(name string) Values {
	config := Values{"rollout": Values{"soakTime": "5m", "maxUnavailable": "25%", "rollback": "Automatic"}}
	merge(config, o.Config)
	merge(config, o.ConfigOf[name])
	return config
}

func (m manifestInput) forInstaller() ([]runtime.Object, error) {
	config := Values{
		"apiVersion": "installation.trellis.garden/v1alpha1", "kind": "ControllerDeploymentConfig", "chart": m.archive, "values": m.jsonValues(),
	}
	merge(config, m.config)
	return m.withProviderConfig(deploymentType, config)
}
