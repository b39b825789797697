package admission

import "github.com/trellis-garden/trellis/apis/ratcheting"

// introduced keeps of a result only what the write introduces. Both are the results of the same rules, for the old and the new object.
func introduced(before, after Result) Result {
	return Result{
		Errors:   ratcheting.Introduced(before.Errors, after.Errors),
		Warnings: ratcheting.IntroducedWarnings(before.Warnings, after.Warnings),
	}
}
