// Package problem is what can be wrong with what an admin registered, in the words of the condition Valid. It must not know how anything of it
// is found out.
package problem

import "errors"

// Reasons of the condition Valid. Those that gardenlet has for charts of its own are named as gardenlet names them
// (gardener/pkg/gardenlet/controller/controllerinstallation/controllerinstallation).
const (
	// RegistrationValid is the only one with status True.
	RegistrationValid = "RegistrationValid"
	// RegistrationNotFound, SeedNotFound and DeploymentNotFound: what the installation refers to is not there.
	RegistrationNotFound = "RegistrationNotFound"
	SeedNotFound         = "SeedNotFound"
	DeploymentNotFound   = "DeploymentNotFound"
	// NameTooLong: the namespace extension-<installation> would have a name of more than 63 characters.
	NameTooLong = "NameTooLong"
	// ProviderConfigInvalid: the providerConfig cannot be decoded, or a field of it is wrong.
	ProviderConfigInvalid = "ProviderConfigInvalid"
	// ChartInformationInvalid: the archive is no chart.
	ChartInformationInvalid = "ChartInformationInvalid"
	// ChartTooLarge: a revision with this chart cannot be kept.
	ChartTooLarge = "ChartTooLarge"
	// OCIChartCannotBePulled: the registry has no such chart, refuses the credentials, or is not trusted.
	OCIChartCannotBePulled = "OCIChartCannotBePulled"
	// RenderingHelmValuesFailed: values refer to resources that are not there.
	RenderingHelmValuesFailed = "RenderingHelmValuesFailed"
	// ValuesInvalid: the values don't fit the chart's schema.
	ValuesInvalid = "ValuesInvalid"
	// ChartCannotBeRendered: a template fails, or gives what is no object.
	ChartCannotBeRendered = "ChartCannotBeRendered"
	// GardenAccessNeedsGardenlet: a kubeconfig for the garden is asked for, and no gardenlet is there who would fill it.
	GardenAccessNeedsGardenlet = "GardenAccessNeedsGardenlet"

	// SeedUnreachable and RegistryUnreachable are nobody's mistake, and have the status Unknown.
	SeedUnreachable     = "SeedUnreachable"
	RegistryUnreachable = "RegistryUnreachable"
)

// Problem is an error that does not go away by itself: somebody has to change what was registered. Every other error is transient.
type Problem struct { //nolint:errname // it is what the condition tells, and only on the way there an error
	// Reason is one of the constants with status False.
	Reason string `json:"reason"`
	// Message names the field, says what is wrong with it, and what to do.
	Message string `json:"message"`
}

var _ error = (*Problem)(nil)

// New returns a Problem.
func New(reason, message string) *Problem { return &Problem{Reason: reason, Message: message} }

// Error implements error.
func (p *Problem) Error() string { return p.Message }

// In returns the Problem in err's chain, if there is one.
func In(err error) (*Problem, bool) { return errors.AsType[*Problem](err) }

// Equal reports whether two Problems, of which either may be nil, say the same.
func Equal(a, b *Problem) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// IsOfRevision reports whether a reason is about what a revision consists of, so that another revision may not have the problem.
func IsOfRevision(reason string) bool {
	switch reason {
	case ChartInformationInvalid, ValuesInvalid, ChartCannotBeRendered, RenderingHelmValuesFailed, GardenAccessNeedsGardenlet, ProviderConfigInvalid,
		ChartTooLarge:
		return true
	default:
		return false
	}
}
