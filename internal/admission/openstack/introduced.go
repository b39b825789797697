package openstack

import (
	"github.com/trellis-garden/trellis/apis/ratcheting"
	"github.com/trellis-garden/trellis/internal/admission"
)

// onlyIntroduced keeps of a result only what the write introduces.
func onlyIntroduced(before, after admission.Result) admission.Result {
	return admission.Result{
		Errors:   ratcheting.Introduced(before.Errors, after.Errors),
		Warnings: ratcheting.IntroducedWarnings(before.Warnings, after.Warnings),
	}
}
