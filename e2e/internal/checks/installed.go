package checks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	appsv1 "k8s.io/api/apps/v1"
)

// untouched is how long an object may wait for its controller. A busy machine needs some seconds.
const untouched = 90 * time.Second

// Registration is a ControllerRegistration of ours that must be installed, and the kinds of its extension objects.
type Registration struct {
	Name  string
	Kinds []string
}

// ExtensionObject is an extension object of a shoot.
type ExtensionObject struct {
	Kind, Namespace, Name string
	// WaitsSince is when it was requested that a controller acts; zero while none must act.
	WaitsSince time.Time
	// Error is the last error, empty without one.
	Error string
}

// Facts are what Missing looks at.
type Facts struct {
	Now           time.Time
	Seed          string
	Registrations []Registration
	Installations []gardencorev1beta1.ControllerInstallation
	Deployments   []appsv1.Deployment
	Objects       []ExtensionObject
}

// Missing names each of our controllers that is not there for a seed, and says how that shows. Errors of extension objects are in Errors.
func Missing(facts Facts) []string {
	var missing []string
	for _, registration := range facts.Registrations {
		if why := facts.missing(registration); why != "" {
			missing = append(missing, fmt.Sprintf("the controller of registration %q is missing in seed %s: %s", registration.Name, facts.Seed, why))
		}
	}
	return missing
}

// missing says why a controller is not there; empty if it is.
func (f Facts) missing(registration Registration) string {
	at := slices.IndexFunc(f.Installations, func(i gardencorev1beta1.ControllerInstallation) bool {
		return i.Spec.RegistrationRef.Name == registration.Name && i.Spec.SeedRef != nil && i.Spec.SeedRef.Name == f.Seed
	})
	if at < 0 {
		return "there is no ControllerInstallation" + f.waiting(registration)
	}
	installation := f.Installations[at]
	var reasons []string
	for _, about := range []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ControllerInstallationValid, gardencorev1beta1.ControllerInstallationInstalled, gardencorev1beta1.ControllerInstallationHealthy,
	} {
		if text := notTrue(installation.Status.Conditions, about); text != "" {
			reasons = append(reasons, fmt.Sprintf("ControllerInstallation %s: %s", installation.Name, text))
		}
	}
	reasons = append(reasons, f.deploymentsOf(&installation)...)
	if len(reasons) == 0 {
		if waiting := f.waiting(registration); waiting != "" {
			return "it is installed" + waiting
		}
	}
	return strings.Join(reasons, "; ")
}

// deploymentsOf says what is wrong with the Deployments of an installation.
func (f Facts) deploymentsOf(installation *gardencorev1beta1.ControllerInstallation) []string {
	namespace := gardenerutils.NamespaceNameForControllerInstallation(installation)
	var reasons []string
	found := false
	for _, deployment := range f.Deployments {
		if deployment.Namespace != namespace {
			continue
		}
		found = true
		wanted := int32(1)
		if deployment.Spec.Replicas != nil {
			wanted = *deployment.Spec.Replicas
		}
		if wanted == 0 || deployment.Status.AvailableReplicas == 0 {
			reasons = append(reasons, fmt.Sprintf("Deployment %s/%s has %d of %d replicas", namespace, deployment.Name, deployment.Status.AvailableReplicas, wanted))
		}
	}
	if !found {
		reasons = append(reasons, "namespace "+namespace+" has no Deployment")
	}
	return reasons
}

// waiting names an object that no controller acts for.
func (f Facts) waiting(registration Registration) string {
	for _, object := range f.Objects {
		if waits := f.Now.Sub(object.WaitsSince); slices.Contains(registration.Kinds, object.Kind) && !object.WaitsSince.IsZero() && waits > untouched {
			return fmt.Sprintf(", and %s %s/%s has waited for it for %s", object.Kind, object.Namespace, object.Name, waits.Round(time.Second))
		}
	}
	return ""
}

func notTrue(conditions []gardencorev1beta1.Condition, about gardencorev1beta1.ConditionType) string {
	for _, condition := range conditions {
		if condition.Type == about && condition.Status != gardencorev1beta1.ConditionTrue {
			return fmt.Sprintf("%s is %s: %s", about, condition.Status, oneLine(condition.Message))
		}
		if condition.Type == about {
			return ""
		}
	}
	return string(about) + " is not known yet"
}

// Errors lists the errors that extension objects report.
func Errors(objects []ExtensionObject) []string {
	var lines []string
	for _, object := range objects {
		if object.Error != "" {
			lines = append(lines, fmt.Sprintf("%s %s/%s: %s", object.Kind, object.Namespace, object.Name, oneLine(object.Error)))
		}
	}
	return lines
}
