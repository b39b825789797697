package admission

import "k8s.io/apimachinery/pkg/util/validation/field"

// Introduced returns the mistakes of after that are not in before: those that a write brings in. An object that came to its mistakes when they
// were none, or in another cluster, shall be changed all the same, not least by Gardener itself. A mistake is the same when it is about
// the same field and value, in the same words.
func Introduced(before, after field.ErrorList) field.ErrorList {
	known := make(map[string]bool, len(before))
	for _, mistake := range before {
		known[mistake.Error()] = true
	}
	var introduced field.ErrorList
	for _, mistake := range after {
		if !known[mistake.Error()] {
			introduced = append(introduced, mistake)
		}
	}
	return introduced
}
