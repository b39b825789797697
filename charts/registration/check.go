package registration

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// maxName leaves room in the 63 characters of a Service's name for "gardener-extension-".
	maxName = 63 - len("gardener-extension-")
	// maxNamespaceName leaves room in the 63 characters of a namespace for "extension-" and for what Gardener appends to make the name
	// of a ControllerInstallation (gardener/pkg/api/core/validation, gardenlet's controllerinstallation controller).
	maxNamespaceName = 47
)

// Check says what is wrong with a catalogue: with each entry for itself, and with all of them together. Entries must have
// their defaults, as Read gives them. The error is of type FieldErrors.
func Check(c Catalogue) error {
	var problems FieldErrors
	if len(c.Registrations) == 0 {
		addf(&problems, "registrations", "is empty; name at least one registration")
	}
	for i, e := range c.Registrations {
		at := func(name string) string { return fmt.Sprintf("registrations[%d].%s", i, name) }
		e.checkName(at, &problems)
		e.checkResources(at, &problems)
		e.checkDeployment(at, &problems)
		e.checkRole(at, &problems)
		e.checkOptions(at, &problems)
	}
	c.checkAdmission(&problems)
	c.checkInstaller(&problems)
	c.checkPrimaries(&problems)
	c.checkUnique(&problems)
	c.checkManagedResources(managedResources, &problems)
	return problems.orNil()
}

type fieldPath func(name string) string

func (e Entry) checkName(at fieldPath, problems *FieldErrors) {
	checkLabel(at("name"), e.Name, maxName, "gardener-extension-<name> becomes the name of a Service", problems)
}

func (e Entry) checkResources(at fieldPath, problems *FieldErrors) {
	switch kind := kindOfChart(e.Chart); {
	case e.Chart == "":
		addf(problems, at("chart"), "is missing; give the folder of a chart, such as worker-controller")
	case kind == "":
		addf(problems, at("chart"), "there is no chart %q; take a folder of charts/ that has a Chart.yaml", e.Chart)
	case e.Kind == "":
		addf(problems, at("kind"), "is missing; %s serves %s", e.Chart, kind)
	case e.Kind != kind && extensionsv1alpha1.AllExtensionKinds.Has(e.Kind):
		addf(problems, at("kind"), "%s serves %s, not %s; change the kind or the chart", e.Chart, kind, e.Kind)
	}
	if e.Kind != "" && !extensionsv1alpha1.AllExtensionKinds.Has(e.Kind) {
		kinds := extensionsv1alpha1.AllExtensionKinds.UnsortedList()
		slices.Sort(kinds)
		addf(problems, at("kind"), "%q is no kind that Gardener knows; take one of %s", e.Kind, strings.Join(kinds, ", "))
	}
	checkTypes(at("types"), e.Types, problems)
}

func (e Entry) checkDeployment(at fieldPath, problems *FieldErrors) {
	policies := []gardencorev1beta1.ControllerDeploymentPolicy{
		gardencorev1beta1.ControllerDeploymentPolicyOnDemand, gardencorev1beta1.ControllerDeploymentPolicyAlways,
		gardencorev1beta1.ControllerDeploymentPolicyAlwaysExceptNoShoots,
	}
	checkOneOf(at("policy"), e.Policy, policies, problems)
	checkOneOf(at("podSecurity"), e.PodSecurity, []string{"restricted", "baseline", "privileged"}, problems)
	if e.SeedSelector == nil {
		return
	}
	if e.Role == RolePrimary {
		addf(problems, at("seedSelector"), "Gardener allows none for a primary: a seed without the controller could serve no shoot; "+
			"remove it, or make the registration a secondary")
	}
	checkSelector(at("seedSelector"), e.SeedSelector, problems)
}

func checkSelector(path string, selector *metav1.LabelSelector, problems *FieldErrors) {
	for _, err := range metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, field.NewPath(path)) {
		addf(problems, err.Field, "%s; write it as a Kubernetes label selector", err.ErrorBody())
	}
}

func (e Entry) checkRole(at fieldPath, problems *FieldErrors) {
	checkOneOf(at("role"), e.Role, []Role{RolePrimary, RoleSecondary}, problems)
	if e.Role == RolePrimary && len(e.Observations) > 0 {
		addf(problems, at("observations"), "a primary observes nothing; remove them, or make the registration a secondary")
	}
	if e.HeartbeatNamespace != "" {
		checkLabel(at("heartbeatNamespace"), e.HeartbeatNamespace, validation.DNS1123LabelMaxLength, "it is a namespace", problems)
	}
	if e.LeaderElectionID != "" && len(validation.IsDNS1123Subdomain(e.LeaderElectionID)) > 0 {
		addf(problems, at("leaderElectionID"), "%q cannot be the name of a Lease; take lower-case letters, digits, '-' and '.'", e.LeaderElectionID)
	}
}

// checkOptions refuses what Gardener allows for other kinds only (gardener/pkg/api/core/validation/controllerregistration.go),
// and, for kind Extension, workerlessSupported elsewhere, which Gardener silently ignores.
func (e Entry) checkOptions(at fieldPath, problems *FieldErrors) {
	only := func(name string, given bool, kind string) {
		if given && e.Kind != kind {
			addf(problems, at(name), "Gardener has it for kind %s only; remove it", kind)
		}
	}
	only("reconcileTimeout", e.ReconcileTimeout != nil, extensionsv1alpha1.ExtensionResource)
	only("lifecycle", e.Lifecycle != nil, extensionsv1alpha1.ExtensionResource)
	only("autoEnable", len(e.AutoEnable) > 0, extensionsv1alpha1.ExtensionResource)
	only("clusterCompatibility", len(e.ClusterCompatibility) > 0, extensionsv1alpha1.ExtensionResource)
	only("workerlessSupported", e.WorkerlessSupported != nil, extensionsv1alpha1.ExtensionResource)
	only("continuousEndpointUpdate", e.ContinuousEndpointUpdate != nil, extensionsv1alpha1.SelfHostedShootExposureResource)
}

func checkTypes(at string, types []string, problems *FieldErrors) {
	if len(types) == 0 {
		addf(problems, at, "is missing; name at least one type, since the binary serves none that it is not given")
	}
	for i, typ := range types {
		path := fmt.Sprintf("%s[%d]", at, i)
		checkLabel(path, typ, validation.DNS1123LabelMaxLength, "it becomes the value of labels", problems)
		if slices.Contains(types[:i], typ) {
			addf(problems, path, "%s stands there twice; remove one", typ)
		}
	}
}

func checkOneOf[T ~string](path string, value T, allowed []T, problems *FieldErrors) {
	if slices.Contains(allowed, value) {
		return
	}
	names := make([]string, 0, len(allowed))
	for _, name := range allowed {
		names = append(names, string(name))
	}
	addf(problems, path, "%q is not known; take one of %s", value, strings.Join(names, ", "))
}

func checkLabel(path, value string, limit int, why string, problems *FieldErrors) {
	switch {
	case value == "":
		addf(problems, path, "is missing; %s", why)
	case len(value) > limit:
		addf(problems, path, "%q has %d characters, at most %d are possible, since %s; shorten it", value, len(value), limit, why)
	case len(validation.IsDNS1123Label(value)) > 0:
		addf(problems, path, "%q is no DNS label, and %s; take lower-case letters, digits and '-'", value, why)
	}
}
