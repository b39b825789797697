package mutation

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Operation is an operation of a JSON patch (RFC 6902).
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// difference returns a JSON patch from one document to another, both in the types that encoding/json reads.
//
// Lists are aligned by their items, not by positions: what is taken out of a list is one operation, and the items behind it
// keep fields that are in neither document.
func difference(path string, before, after any) []Operation {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	switch before := before.(type) {
	case map[string]any:
		if after, ok := after.(map[string]any); ok {
			return objectDifference(path, before, after)
		}
	case []any:
		if after, ok := after.([]any); ok {
			return listDifference(path, before, after)
		}
	}
	return []Operation{{Op: "replace", Path: path, Value: after}}
}

func objectDifference(path string, before, after map[string]any) []Operation {
	var operations []Operation
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for _, name := range slices.Sorted(maps.Keys(before)) {
		fieldPath := path + "/" + escape.Replace(name)
		if value, exists := after[name]; exists {
			operations = append(operations, difference(fieldPath, before[name], value)...)
		} else {
			operations = append(operations, Operation{Op: "remove", Path: fieldPath})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, known := before[name]; !known {
			operations = append(operations, Operation{Op: "add", Path: path + "/" + escape.Replace(name), Value: after[name]})
		}
	}
	return operations
}

// listDifference walks through both lists. position is where the walk is in the list as it is after the operations so far.
func listDifference(path string, before, after []any) []Operation {
	var operations []Operation
	add := func(op string, position int, value any) {
		operations = append(operations, Operation{Op: op, Path: path + "/" + strconv.Itoa(position), Value: value})
	}
	common := longestCommon(before, after)
	position := 0
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(before) > 0 && len(after) > 0 && sameItem(before[0], after[0]):
			operations = append(operations, difference(path+"/"+strconv.Itoa(position), before[0], after[0])...)
			before, after, position = before[1:], after[1:], position+1
		case len(before) > 0 && (len(after) == 0 || common(len(before)-1, len(after)) >= common(len(before), len(after)-1)):
			add("remove", position, nil)
			before = before[1:]
		default:
			add("add", position, after[0])
			after, position = after[1:], position+1
		}
	}
	return operations
}

// longestCommon returns a function that says how many items the last so many of both lists have in common, in their order.
func longestCommon(before, after []any) func(ofBefore, ofAfter int) int {
	table := make([][]int, len(before)+1)
	table[0] = make([]int, len(after)+1)
	for i := 1; i <= len(before); i++ {
		table[i] = make([]int, len(after)+1)
		for j := 1; j <= len(after); j++ {
			if sameItem(before[len(before)-i], after[len(after)-j]) {
				table[i][j] = table[i-1][j-1] + 1
			} else {
				table[i][j] = max(table[i-1][j], table[i][j-1])
			}
		}
	}
	return func(ofBefore, ofAfter int) int { return table[ofBefore][ofAfter] }
}

// sameItem reports whether an item of a list is another version of the same. Objects go by what names them in Kubernetes' and
// Gardener's lists. Where nothing does, only equal ones are the same.
func sameItem(before, after any) bool {
	one, isObject := before.(map[string]any)
	other, bothAre := after.(map[string]any)
	if isObject && bothAre {
		for _, key := range []string{"mountPath", "path", "name", "version"} {
			if one[key] != nil && other[key] != nil {
				return reflect.DeepEqual(one[key], other[key])
			}
		}
	}
	return reflect.DeepEqual(before, after)
}
