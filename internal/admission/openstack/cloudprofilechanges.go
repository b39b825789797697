package openstack

import (
	"github.com/trellis-garden/trellis/apis/tightening"
	"github.com/trellis-garden/trellis/internal/admission"
)

// introduced leaves of a verdict what a write brings in.
func introduced(before, after admission.Verdict) admission.Verdict {
	return admission.Verdict{
		Errors:   tightening.Introduced(before.Errors, after.Errors),
		Warnings: tightening.IntroducedWarnings(before.Warnings, after.Warnings),
	}
}
