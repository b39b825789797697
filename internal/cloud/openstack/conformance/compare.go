package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Differences tells where one cloud's answers to the requests of a behaviour are not what another's are. Attributes that only
// the other shows are passed over: a fake may leave out what nobody reads.
func Differences(of, from []Exchange) []string {
	var found []string
	for i := range max(len(of), len(from)) {
		switch {
		case i >= len(of):
			found = append(found, fmt.Sprintf("request %d is missing: %s", i+1, from[i].Request))
		case i >= len(from):
			found = append(found, fmt.Sprintf("request %d is one too many: %s", i+1, of[i].Request))
		case of[i].Request != from[i].Request:
			return append(found, fmt.Sprintf("request %d is %s instead of %s", i+1, of[i].Request, from[i].Request))
		default:
			for _, line := range differencesIn(of[i], from[i]) {
				found = append(found, fmt.Sprintf("request %d, %s: %s", i+1, of[i].Request, line))
			}
		}
	}
	return found
}

func differencesIn(of, from Exchange) []string {
	if of.Status != from.Status {
		return []string{fmt.Sprintf("answered %d %s instead of %d %s", of.Status, errorMessage(of), from.Status, errorMessage(from))}
	}
	var found []string
	for _, path := range slices.Sorted(maps.Keys(of.Attributes)) {
		value := of.Attributes[path]
		switch expected, there := from.Attributes[path]; {
		case !there:
			found = append(found, fmt.Sprintf("%s = %s, which the other does not have", path, value))
		case value != expected:
			found = append(found, fmt.Sprintf("%s = %s instead of %s", path, value, expected))
		}
	}
	return found
}

// errorMessage is the message in an error's body.
func errorMessage(e Exchange) string {
	for _, path := range slices.Sorted(maps.Keys(e.Attributes)) {
		if path == "body" || strings.HasSuffix(path, "message") || strings.HasSuffix(path, "faultstring") {
			return e.Attributes[path]
		}
	}
	return ""
}
