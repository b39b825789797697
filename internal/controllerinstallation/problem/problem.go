// Package problem defines the problems that a registration may have, as reported by the condition Valid. It must not know how they are detected.
package problem

import "errors"

// Reasons of the condition Valid. Those that gardenlet has for charts of its own are named as gardenlet names them
// (gardener/pkg/gardenlet/controller/controllerinstallation/controllerinstallation).
const (
	// RegistrationValid is the only one with status True.
	RegistrationValid = "RegistrationValid"
	// RegistrationNotFound, SeedNotFound and DeploymentNotFound: an object that the installation refers to does not exist.
	RegistrationNotFound = "RegistrationNotFound"
	SeedNotFound         = "SeedNotFound"
	DeploymentNotFound   = "DeploymentNotFound"
	// NameTooLong: the namespace extension-<installation> would have a name of more than 63 characters.
	NameTooLong = "NameTooLong"
	// ProviderConfigInvalid: the providerConfig cannot be decoded, or a field of it is wrong.
	ProviderConfigInvalid = "ProviderConfigInvalid"
	// ChartInformationInvalid: the archive is not a valid chart.
	ChartInformationInvalid = "ChartInformationInvalid"
	// ChartTooLarge: a revision with this chart cannot be stored.
	ChartTooLarge = "ChartTooLarge"
	// OCIChartCannotBePulled: the registry has no such chart, refuses the credentials, or is not trusted.
	OCIChartCannotBePulled = "OCIChartCannotBePulled"
	// RenderingHelmValuesFailed: values refer to resources that do not exist.
	RenderingHelmValuesFailed = "RenderingHelmValuesFailed"
	// ValuesInvalid: the values violate the chart's schema.
	ValuesInvalid = "ValuesInvalid"
	// ChartCannotBeRendered: a template fails, or its output is not a Kubernetes object.
	ChartCannotBeRendered = "ChartCannotBeRendered"
	// GardenAccessNeedsGardenlet: a kubeconfig for the garden is requested, and there is no gardenlet that would write its token.
	GardenAccessNeedsGardenlet = "GardenAccessNeedsGardenlet"

	// SeedUnreachable and RegistryUnreachable are transient, and have the status Unknown.
	SeedUnreachable     = "SeedUnreachable"
	RegistryUnreachable = "RegistryUnreachable"
)

// Problem is a permanent error: an admin has to change the registration. Every other error is transient.
type Problem struct { //nolint:errname // it is the content of a condition, and an error only until it is reported
	// Reason is one of the constants with status False.
	Reason string `json:"reason"`
	// Message names the field, its problem, and the remedy.
	Message string `json:"message"`
}

var _ error = (*Problem)(nil)

// New returns a Problem.
func New(reason, message string) *Problem { return &Problem{Reason: reason, Message: message} }

// Error implements error.
func (p *Problem) Error() string { return p.Message }

// In returns the Problem in err's chain, if there is one.
func In(err error) (*Problem, bool) { return errors.AsType[*Problem](err) }

// Equal reports whether two Problems, either of which may be nil, are equal.
func Equal(a, b *Problem) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// IsOfRevision reports whether a reason concerns the content of a revision, so that another revision may not have the problem.
func IsOfRevision(reason string) bool {
	switch reason {
	case ChartInformationInvalid, ValuesInvalid, ChartCannotBeRendered, RenderingHelmValuesFailed, GardenAccessNeedsGardenlet, ProviderConfigInvalid,
		ChartTooLarge:
		return true
	default:
		return false
	}
}
