package openstack

import (
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/admission"
)

// introduced leaves of a verdict what a write brings in. Admins of profiles put versions in front of the lists that they keep: an entry that has moved
// brings nothing in, and so mistakes are known without positions.
func introduced(before, after admission.Verdict) admission.Verdict {
	known := map[string]int{}
	for _, mistake := range before.Errors {
		known[withoutPositions(mistake.Error())]++
	}
	var left admission.Verdict
	for _, mistake := range after.Errors {
		if words := withoutPositions(mistake.Error()); known[words] > 0 {
			known[words]--
		} else {
			left.Errors = append(left.Errors, mistake)
		}
	}
	for _, warning := range after.Warnings {
		isSame := func(old string) bool { return withoutPositions(old) == withoutPositions(warning) }
		if !slices.ContainsFunc(before.Warnings, isSame) {
			left.Warnings = append(left.Warnings, warning)
		}
	}
	return left
}

// withoutPositions takes [0], [1] and so on out of a text.
func withoutPositions(text string) string {
	var rest strings.Builder
	for {
		before, behind, found := strings.Cut(text, "[")
		rest.WriteString(before)
		if !found {
			return rest.String()
		}
		text = strings.TrimLeft(behind, "0123456789")
		if len(text) < len(behind) && strings.HasPrefix(text, "]") {
			text = text[1:]
			continue
		}
		rest.WriteString("[")
		text = behind
	}
}
