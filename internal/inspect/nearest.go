package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// mostNearest is how many namespaces a message names.
const mostNearest = 5

// missingNamespace says that a namespace does not exist, and which ones of shoots have the most similar names.
func missingNamespace(name string, shoots []string) string {
	message := fmt.Sprintf("namespace %q does not exist", name)
	if len(shoots) == 0 {
		return message + ", and the cluster has no namespace of a shoot: is it the seed?"
	}
	nearest := nearestNames(name, shoots)
	message += "; the shoot namespaces with the most similar names are " + strings.Join(nearest, ", ")
	if len(shoots) == len(nearest) {
		return strings.Replace(message, "the shoot namespaces with the most similar names are", "the shoot namespaces are", 1)
	}
	return message
}

// nearestNames returns the most similar names: those that contain the name first, then those with the fewest edits.
func nearestNames(name string, names []string) []string {
	sorted := slices.Clone(names)
	slices.SortFunc(sorted, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(name, a), distance(name, b)), cmp.Compare(a, b))
	})
	return sorted[:min(len(sorted), mostNearest)]
}

// distance is the number of edits between two names, and zero if one contains the other.
func distance(name, other string) int {
	if strings.Contains(other, name) {
		return 0
	}
	previous := make([]int, len(other)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := range len(name) {
		current := make([]int, len(other)+1)
		current[0] = i + 1
		for j := range len(other) {
			substituted := previous[j]
			if name[i] != other[j] {
				substituted++
			}
			current[j+1] = min(substituted, previous[j+1]+1, current[j]+1)
		}
		previous = current
	}
	return previous[len(other)]
}
